"""Strings over pulleys and drums: kernels against plain complex numbers, and every derivative against difference quotients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.variational import workspace
from bunraku.errors import FigureError
from bunraku.figure import Branch, Drum, Figure, Point, Pulley, String, build, plain_kinematics
from bunraku.kernels.compile import kernel
from bunraku.kinematics import pose
from bunraku.kinematics.gap_derivatives import add_third, hessian, tangent_screws
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place
from bunraku.kinematics.ways import lengths_along, ways_along
from tests.differences import difference_quotient, relative_error

Array = NDArray[np.float64]

AXIS = (0.1, 0.2, 1.0)
HOOK, SPINDLE = Point("right", (0.02, 0.01, -0.05)), Point("left", (0.1, 0.05, 0.02))
ENDS = {
    "drum": Drum("left", (0.1, 0.05, 0.02), 0.05, (0.1, 1.0, 0.2), 1, (1.0, 0.0, 0.3)),
    "drum with layers": Drum("left", (0.1, 0.05, 0.02), 0.05, (0.1, 1.0, 0.2), 1, (1.0, 0.0, 0.3), turns=1.0, thickness=0.01),
}
WAYS: dict[str, tuple[Point | Branch, ...]] = {
    "cylinder": (Pulley("middle", (0.02, 0, 0.01), 0.2, AXIS),),
    "sphere": (Pulley("middle", (0.02, 0, 0.01), 0.2),),
    "cylinder with a side": (Pulley("middle", (0.02, 0, 0.01), 0.2, AXIS, Point("middle", (0, 0.5, 0))),),
    "cylinder with a side elsewhere": (Pulley("middle", (0.02, 0, 0.01), 0.2, AXIS, Point("left", (0.6, 0.5, 0))),),
    "sphere with a side": (Pulley("middle", (0.02, 0, 0.01), 0.2, None, Point("middle", (0, 0.5, 0))),),
    "inside a cylinder": (Pulley("middle", (0.02, 0.5, 0.01), 0.2, AXIS, Point("middle", (0.02, 0.51, 0))),),
    "inside a sphere": (Pulley("middle", (0.02, 0.5, 0.01), 0.2, None, Point("middle", (0.02, 0.51, 0))),),
    "turn": (Pulley("middle", (0.02, 0, 0.01), 0.1, AXIS, turn=-1),),
    "two in a row": (
        Pulley("middle", (0.1, 0, 0.01), 0.05, (0, 0, 1), turn=-1),
        Pulley("middle", (-0.1, 0.05, 0.01), 0.06, (0, 0, 1), turn=1),
    ),
    "two in a row, one upside down": (
        Pulley("middle", (0.1, 0, 0.01), 0.05, (0, 0, 1), turn=-1),
        Pulley("middle", (-0.1, 0.05, 0.3), 0.06, (0, 0, -1), turn=1),
    ),
    "branches": (
        Point("middle", (0.1, 0, 0)), Branch(2.0), Point("right_shoulder", (0, 0, 0.1)),
        Pulley("middle", (0.02, 0, 0.01), 0.2, AXIS),
    ),
    "drum with layers": (),
    "drum": (Pulley("left", (0.2, 0.1, 0.02), 0.05, (0.1, 1.0, 0.2), turn=-1),),
}  # fmt: skip


def strung(kind: str) -> Figure:
    """Two arms, a ball between them, and a string of this kind from one to the other."""
    b = build
    arms = b.figure(
        "arms",
        b.ball("right_shoulder", b.body(0.4), b.rx("right", b.body(1.0), at=(0, 0, -0.3)), at=(0.5, 0.1, 0)),
        b.ball("middle", b.body(1.0)),
        b.ball("left_shoulder", b.body(1.0), b.ry("left", b.body(1.0), at=(0.3, 0, 0)), at=(-0.6, -0.1, 0)),
    )
    # The joint that turns the drum carries the hook as well, and turns it by about a layer.
    winding = {"variable": "right", "ratio": -14.0} if kind == "drum with layers" else {}
    return arms.replace(strings=(String("s", HOOK, ENDS.get(kind, SPINDLE), 1.0, eyelets=WAYS[kind], **winding),))  # type: ignore[arg-type]


@pytest.fixture(params=WAYS)
def figure(request: pytest.FixtureRequest) -> Figure:
    return strung(request.param)


@kernel
def _bends(tree, q, direction, H, T, slope):  # type: ignore[no-untyped-def]
    w, nj = workspace(tree), tree.joints.shape[0]
    o, h, A = (0.0, 0.0, 0.0), np.zeros(tree.n_links), np.zeros((tree.n_links, tree.n_q))
    W, dS, dx, df = np.zeros((nj, 6)), np.zeros((nj, 6)), np.zeros_like(w.x), np.zeros_like(w.x)
    dd, de = np.zeros((nj, 3)), np.zeros((nj, 3))
    place(tree.joints, 0, nj, q, o, w.R, w.p, w.S)
    gaps(tree, q, w.R, w.p, w.S, o, w.x, w.f, w.n, h, A)
    hessian(tree, np.ones(tree.n_links), w.S, w.x, w.f, w.n, w.d, w.e, H)
    tangent_screws(tree.joints, direction, w.S, W, dS)
    add_third(
        1.0, tree.links[0], tree.points, tree.joints, tree.chain, tree.support[0], w.S, W, dS, w.x, w.f, w.n, dx, df, w.d, w.e, dd,
        de, T, slope,
    )  # fmt: skip


def bends(figure: Figure, q: Array, direction: Array) -> tuple[Array, Array, Array]:
    """gap_qq, its change along a direction, and gap_qq · direction."""
    n = figure.n_q
    H, T, slope = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    _bends(figure.compiled.tree, q, direction, H, T, slope)
    return H, T, slope


def configurations(figure: Figure, count: int) -> Array:
    return 0.4 * np.random.default_rng(1).normal(size=(count, figure.n_q))


def plain_length(figure: Figure, q: Array) -> float:
    X_W = plain_kinematics.poses(figure.frames, dict(zip(figure.names, q, strict=True)))
    return plain_kinematics.path_length(X_W, figure.strings[0])


def wound(figure: Figure, q: Array) -> float:
    """The wound length of the string."""
    return figure.strings[0].wound(float(q[figure.index("right")]))


def test_length_is_that_of_the_plain_twin(figure: Figure) -> None:
    Q = configurations(figure, 100)
    ours = np.array([gap_derivatives(figure, q)[0][0] + wound(figure, q) for q in Q])
    np.testing.assert_allclose(ours, [plain_length(figure, q) for q in Q], rtol=1e-13)
    np.testing.assert_allclose(ours, [pose(figure, q).gaps[0] + wound(figure, q) for q in Q], rtol=1e-13)
    np.testing.assert_allclose(ours, lengths_along(figure, Q)[:, 0], rtol=1e-13)
    straight = [np.linalg.norm(np.diff(pose(figure, q).path("s")[[0, -1]], axis=0)) for q in Q]
    assert np.mean(np.abs(ours - straight) > 1e-6) > 0.3  # most of what is compared is not a straight line


def test_pictures_have_the_length(figure: Figure) -> None:
    """Points along the way are close together on arcs: their polygon is a little shorter than the way."""
    if isinstance(figure.strings[0].spindle, Drum):
        pytest.skip("what lies on a drum is not drawn")
    for q, way in zip(Q := configurations(figure, 20), ways_along(figure, Q, figure.strings[0]), strict=True):
        polygon = sum(branch.weight * np.linalg.norm(np.diff(branch.points, axis=0), axis=1).sum() for branch in way)
        assert 0.995 * plain_length(figure, q) < polygon < plain_length(figure, q) + 1e-12


def test_derivatives(figure: Figure) -> None:
    rng = np.random.default_rng(2)
    for q in configurations(figure, 6):
        direction = rng.normal(size=figure.n_q)
        gradient = gap_derivatives(figure, q)[1][0]
        H, T, slope = bends(figure, q, direction)

        def along(s: Array, q: Array = q, direction: Array = direction) -> Array:
            return bends(figure, q + s[0] * direction, direction)[0]

        first = difference_quotient(lambda x: gap_derivatives(figure, x)[0][:1], q, step=1e-4)
        second = difference_quotient(lambda x: gap_derivatives(figure, x)[1][0], q, step=1e-4)
        third = difference_quotient(along, np.zeros(1), step=1e-4)[..., 0]
        assert relative_error(gradient[None], first) < 1e-8
        assert relative_error(H, second) < 1e-7
        assert relative_error(T, third) < 1e-7
        np.testing.assert_allclose(slope, H @ direction, atol=1e-12)


PASSED: dict[str, Pulley] = {
    "cylinder": Pulley("world", (0, 0, 0), 0.2, (0, 0.3, 1)),
    "sphere": Pulley("world", (0, 0, 0), 0.2),
    "cylinder with a side": Pulley("world", (0, 0, 0), 0.2, (0, 0.3, 1), Point("world", (0, 0.5, 0))),
    "sphere with a side": Pulley("world", (0, 0, 0), 0.2, None, Point("world", (0, 0.5, 0))),
    "turn": Pulley("world", (0, 0, 0), 0.2, (0, 0.3, 1), turn=1),
    "ring": Pulley("world", (0, 0, 0), 0.2, (0, 0.3, 1), Point("world", (0, 0.1, 0))),
}


@pytest.mark.parametrize("kind", PASSED)
def test_neither_length_nor_slope_jump_where_a_string_touches(kind: str) -> None:
    """One end comes down past a pulley: from clear of it to wrapped, or from bent at a ring to straight through it."""
    b = build
    down = b.figure("down", b.ty("end", b.body(1.0), at=(1.0, 0, 0.1)))
    figure = down.replace(strings=(String("s", Point("end"), Point("world", (-1.1, 0.15, 0)), 1.0, eyelets=(PASSED[kind],)),))
    heights = np.linspace(0.6, 0.05, 2001)
    found = [gap_derivatives(figure, np.array([y])) for y in heights]
    length, slope = np.array([h[0] for h, _ in found]) + 1.0, np.array([A[0, 0] for _, A in found])
    straight = np.array([np.linalg.norm([2.1, y - 0.15, 0.1]) for y in heights])
    touches = length - straight > 1e-12
    assert touches.any()
    assert not touches.all()
    assert np.abs(np.diff(length)).max() < 1e-3
    assert np.abs(np.diff(slope)).max() < 5e-3


def test_eyelets_at_the_same_place_need_no_pulley() -> None:
    """Nor does the side point, where it is there too: rounding does not send the string once round."""
    b, rng = build, np.random.default_rng(5)
    place, round_there = Point("finger", (0.0, -0.0025, 0.0333)), Point("finger", (0.0, -0.0057, 0.0323))
    pulley = Pulley(round_there.frame, round_there.position, 0.0025, (1.0, 0.0, 0.0), side=place)
    figure = b.figure(
        "finger", b.free("finger", b.body(0.1, inertia=(1e-3, 1e-3, 1e-3))),
        strings=[b.string("tendon", ("world", (0.1, 0.2, 0.3)), ("world", (0.0, 0.3, 0.1)), 9.0, through=[place, pulley, place])],
    )  # fmt: skip
    for _ in range(50):
        q = rng.uniform(-1.0, 1.0, 6)
        X = plain_kinematics.poses(figure.frames, dict(zip(figure.names, q.tolist(), strict=True)))
        there = (X["finger"] @ [*place.position, 1.0])[:3]
        straight = np.linalg.norm(there - [0.1, 0.2, 0.3]) + np.linalg.norm(there - [0.0, 0.3, 0.1])
        assert gap_derivatives(figure, q)[0][0] + 9.0 == pytest.approx(straight, abs=1e-7)
        assert pose(figure, q).gaps[0] + 9.0 == pytest.approx(straight, abs=1e-7)


def test_a_string_from_behind_the_beginning_of_its_drum() -> None:
    """What lies on the drum counts less than nothing there; kernels and plain numbers say so alike."""
    b = build
    figure = b.figure(
        "winch", b.tx("x", b.tz("load", b.body(1.0))), b.ry("reel", kinematic=True),
        strings=[b.string("rope", "load", b.drum("world", 0.08, "y", turn=-1, towards=(1, 0, 0)), 1.0, variable="reel")],
    )  # fmt: skip
    below = 0
    for angle in np.linspace(-np.pi + 0.1, np.pi - 0.1, 40):
        q = np.array([0.1 * np.cos(angle), -0.1 * np.sin(angle), 0.0])
        kernel_gap = gap_derivatives(figure, q)[0][0]
        below += kernel_gap < -1.0
        assert pose(figure, q).gaps[0] == pytest.approx(kernel_gap, abs=1e-13)
    assert below > 3


def test_what_cannot_be_followed_is_refused() -> None:
    def string(*way: Point | Branch, hook: Point = HOOK, spindle: Point = SPINDLE) -> Figure:
        return strung("turn").replace(strings=(String("s", hook, spindle, 1.0, eyelets=way),))

    sheave = Pulley("middle", (0.1, 0, 0), 0.05, (0, 0, 1), turn=1)
    with pytest.raises(FigureError, match="put an eyelet between"):
        string(sheave, Pulley("middle", (0.3, 0, 0), 0.05))
    with pytest.raises(FigureError, match="without a turn"):
        string(sheave, Pulley("middle", (0.3, 0, 0), 0.05, (0, 0, 1)))
    with pytest.raises(FigureError, match="not parallel"):
        string(sheave, Pulley("middle", (0.3, 0, 0), 0.05, (0, 1, 0), turn=1))
    with pytest.raises(FigureError, match="tilts the axes"):
        string(sheave, Pulley("left", (0.3, 0, 0), 0.05, (0, 0, 1), turn=1))
    with pytest.raises(FigureError, match="the hook is round"):
        string(hook=sheave)
    with pytest.raises(FigureError, match="the spindle is a pulley"):
        string(spindle=sheave)
    with pytest.raises(FigureError, match="a drum on the way"):
        string(ENDS["drum"])
    with pytest.raises(FigureError, match="at a pulley"):
        string(sheave, Branch(2.0), Point("middle"))
    with pytest.raises(FigureError, match="single point"):
        string(Branch(2.0), Point("middle"))
    with pytest.raises(FigureError, match="a radius"):
        Pulley("middle", radius=-0.1)
    with pytest.raises(FigureError, match="no side"):
        Pulley("middle", radius=0.1, axis=(0, 0, 1), side=Point("middle"), turn=1)
