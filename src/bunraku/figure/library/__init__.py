"""Ready-made figures: `library.marionette22()`, or by name, `library.named("chain7")`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from bunraku.errors import UnknownName
from bunraku.figure.figure import Figure
from bunraku.figure.library.actors import actor
from bunraku.figure.library.arms import arm2d, arm3d
from bunraku.figure.library.cranes import crane
from bunraku.figure.library.fingers import finger
from bunraku.figure.library.geckos import gecko
from bunraku.figure.library.hands import hand
from bunraku.figure.library.humanoids import humanoid
from bunraku.figure.library.manipulators import mobile_manipulator
from bunraku.figure.library.mannequins import mannequin
from bunraku.figure.library.marionettes import marionette22, marionette25
from bunraku.figure.library.pendulums import cart_pendulum, chain, double_pendulum, pendulum
from bunraku.figure.library.props import chair, crate, drum, football

_MAKERS: dict[str, Callable[[], Figure]] = {
    maker.__name__: maker
    for maker in (
        pendulum, double_pendulum, chain, cart_pendulum, arm2d, arm3d, marionette22, marionette25, actor, hand, finger, crane,
        mannequin, mobile_manipulator, humanoid, gecko,
    )
}  # fmt: skip
_PROPS: dict[str, Callable[..., Figure]] = {maker.__name__: maker for maker in (football, crate, drum, chair)}
__all__ = ["about", "named", "names", "prop_names", *_MAKERS, *_PROPS]  # noqa: PLE0604 - the names of the makers


def names() -> tuple[str, ...]:
    """The names of all figures of the library."""
    return tuple(_MAKERS)


def prop_names() -> tuple[str, ...]:
    """The names of the props: free bodies that figures touch."""
    return tuple(_PROPS)


def about(name: str) -> str:
    """One sentence about the figure called `name`."""
    return ((_MAKERS.get(name) or _PROPS[name]).__doc__ or "").partition("\n")[0]


@lru_cache(maxsize=64)  # figures cannot be changed, so all may share one, and what kernels read of it
def named(name: str) -> Figure:
    """The figure or prop called `name`, with its default sizes; "chain7" is a chain of seven links.

    Raises UnknownName for another name.
    """
    links = re.fullmatch(r"chain(\d{1,4})", name)
    if links and int(links[1]) > 0:
        return chain(int(links[1]))
    if name in _PROPS:
        return _PROPS[name]()
    if name not in _MAKERS:
        raise UnknownName("figure", name, names())
    return _MAKERS[name]()
