"""The browser that the stage's tests use."""

from tests.stage.conftest import browser

__all__ = ["browser"]
