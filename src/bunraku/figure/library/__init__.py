"""Ready-made figures: `library.marionette22()`, or by name, `library.named("chain7")`."""

from __future__ import annotations

import re
from collections.abc import Callable

from bunraku.errors import UnknownName
from bunraku.figure.figure import Figure
from bunraku.figure.library.arms import arm2d, arm3d
from bunraku.figure.library.geckos import gecko
from bunraku.figure.library.hands import hand
from bunraku.figure.library.humanoids import humanoid
from bunraku.figure.library.manipulators import mobile_manipulator
from bunraku.figure.library.mannequins import mannequin
from bunraku.figure.library.marionettes import marionette22, marionette25
from bunraku.figure.library.pendulums import cart_pendulum, chain, double_pendulum, pendulum

_FIGURES = (
    pendulum, double_pendulum, chain, cart_pendulum, arm2d, arm3d, marionette22, marionette25, hand, mannequin,
    mobile_manipulator, humanoid, gecko,
)  # fmt: skip
_MAKERS: dict[str, Callable[[], Figure]] = {maker.__name__: maker for maker in _FIGURES}
NAMES = tuple(_MAKERS)
__all__ = ["NAMES", "about", "named", *NAMES]  # noqa: PLE0604 - the names of the makers


def about(name: str) -> str:
    """One sentence on a figure."""
    return (_MAKERS[name].__doc__ or "").partition("\n")[0]


def named(name: str) -> Figure:
    """The figure of this name as it comes; "chain7" is a chain of seven."""
    links = re.fullmatch(r"chain(\d{1,4})", name)
    if links and int(links[1]) > 0:
        return chain(int(links[1]))
    if name not in _MAKERS:
        raise UnknownName("figure", name, NAMES)
    return _MAKERS[name]()
