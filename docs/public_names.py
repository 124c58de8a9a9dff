"""The first page of the reference: every name that `bunraku` exports, the verbs first."""

from __future__ import annotations

import inspect
import types

import bunraku
from bunraku.verbs.loading import VERBS


def page() -> list[str]:
    """The lines of the page, in reStructuredText."""
    others = [name for name in bunraku.__all__ if name not in VERBS and not name.startswith("__")]
    lines = ["bunraku", "=======", "", f"Version: ``bunraku.__version__`` is {bunraku.__version__}", ""]
    return [*lines, *_section("Verbs", VERBS), *_section("Everything else", others)]


def _section(title: str, names: list[str] | tuple[str, ...]) -> list[str]:
    lines = [title, "-" * len(title), ""]
    for name in names:
        thing = getattr(bunraku, name)
        if isinstance(thing, types.ModuleType):
            lines += [f":py:mod:`{thing.__name__}`", ""]
            continue
        home = inspect.getmodule(thing)
        directive = "autoclass" if inspect.isclass(thing) else "autofunction"
        lines += [f".. {directive}:: {home.__name__ if home else 'bunraku'}.{name}", "   :no-index:", ""]
    return lines
