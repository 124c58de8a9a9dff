"""The browser of the stage's tests."""

from __future__ import annotations

from tests.stage.conftest import browser

__all__ = ["browser"]
