"""Words that say which bodies touch, and which pairs come of them."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.manifold.polytope import polytope
from bunraku.collision.manifold.touch_rules import Matter, Touch, as_touch
from bunraku.collision.manifold.touch_world import TouchBodies, box_corners
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import library
from bunraku.figure.together import together, with_props
from bunraku.scene import Scene


def test_words_are_read() -> None:
    assert as_touch(None) is None
    assert as_touch("all") == Touch()
    rules = as_touch({"friction": 0.2, "own": [["a", "b", {"restitution": 0.5}]], "except": [["c", "d"]]})
    assert rules is not None
    assert rules.matter == Matter(friction=0.2)
    assert rules.own[0].matter == Matter(friction=0.2, restitution=0.5)
    assert rules.except_for == (("c", "d"),)
    assert as_touch([["a", "b"]]) is not None


@pytest.mark.parametrize(
    "wrong",
    [3, [["a"]], {"friction": -1}, {"restitution": 2}, {"rubs": 1}, [["a", "b", {"sticky": 1}]], {"adhesion": float("nan")}],
    ids=str,
)
def test_other_words_are_refused(wrong: object) -> None:
    with pytest.raises(BunrakuError, match="touch"):
        as_touch(wrong)


def test_pairs_by_names_of_parts() -> None:
    pair = together("pair", {"left": library.football(at=(0, 0, 1)), "right": library.crate(at=(1, 0, 1))})
    rules = as_touch([["left", "right"], ["right", "floor", {"friction": 0.9}]])
    assert rules is not None
    bodies = TouchBodies(pair, Scene("floor"), rules)
    assert sorted(bodies.pairs) == [("left.football", "right.crate"), ("right.crate", "floor")]
    k = bodies.names.index("right.crate"), bodies.names.index("floor")
    assert bodies.arrays.matter[k][0] == 0.9
    with pytest.raises(UnknownName, match="nobody"):
        TouchBodies(pair, Scene("floor"), Touch(except_for=(("nobody", "floor"),)))


def test_neighbours_in_a_figure_never_touch() -> None:
    puppet = with_props(library.marionette25(), {"ball": library.football()})
    pairs = TouchBodies(puppet, Scene("floor"), Touch()).pairs
    assert ("ball.football", "floor") in pairs
    assert not [pair for pair in pairs if set(pair) == {"lelbow_rx.hand", "lelbow_rx.forearm"}]
    assert not [pair for pair in pairs if set(pair) == {"lelbow_rx.forearm", "lshoulder.upper_arm"}]


def test_a_box_is_a_polytope() -> None:
    made = polytope(box_corners(np.array([0.1, 0.2, 0.3])), name="box")
    assert (len(made.vertices), len(made.edges), len(made.faces), len(made.directions)) == (8, 12, 6, 3)
    for face, normal in zip(made.faces, made.normals, strict=True):
        a, b, c = made.vertices[list(face[:3])]
        assert np.cross(b - a, c - b) @ normal > 0.0
    with pytest.raises(BunrakuError, match="flat"):
        polytope(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float), name="sheet")
