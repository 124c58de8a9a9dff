from __future__ import annotations

import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FigureError, UnknownName
from bunraku.figure import (
    Body,
    Closure,
    Contact,
    Effort,
    Figure,
    Frame,
    Joint,
    Point,
    Push,
    Shape,
    Sphere,
    Spring,
    String,
    Variable,
    Wire,
    library,
)

BASE = Frame("base", variable=Variable("slide", "translate", (1.0, 0.0, 0.0), kinematic=True, start=0.2))
ARM = Frame("arm", "base", (0.0, 0.0, 1.0), variable=Variable("swing", "rotate", start=0.5, lower=-1.0, upper=2.0))
TIP = Frame("tip", "arm", (0.0, 0.0, -1.0))
LENGTH = Variable("wound", "length", kinematic=True, start=1.5)


def crane(**changes: Any) -> Figure:
    """A bit of everything."""
    fields: dict[str, Any] = {
        "name": "crane",
        "frames": (BASE, ARM, TIP),
        "bodies": (Body("arm", 2.0, (0.0, 0.0, -0.5)),),
        "strings": (String("rope", Point("tip"), Point("world"), variable="wound"),),
        "wires": (Wire("stay", Point("tip"), Point("world", (0.0, 0.0, 3.0)), 2.0),),
        "lengths": (LENGTH,),
        "springs": (Spring("coil", Point("tip"), Point("base"), 3.0),),
        "forces": (Effort("motor", "swing"), Push("wind", Point("tip"), (1.0, 0.0, 0.0))),
        "contacts": (Contact("floor", Point("tip")),),
        "closures": (Closure("loop", Point("tip"), Point("base")),),
        "shapes": (Shape("tip", Sphere(0.1)),),
        "allowed": (("tip", "base"),),
    }
    return Figure(**{**fields, **changes})


def test_order_of_the_variables() -> None:
    figure = crane()
    assert figure.names == ("swing", "slide", "wound")  # dynamic, kinematic, lengths
    assert figure.dynamic == ("swing",)
    assert figure.kinematic == ("slide", "wound")
    assert (figure.n_q, figure.n_dynamic) == (3, 1)
    assert figure.index("wound") == 2
    assert figure.indices(["wound", "swing"]).tolist() == [2, 0]
    np.testing.assert_array_equal(figure.start, [0.5, 0.2, 1.5])
    np.testing.assert_array_equal(figure.limits, [[-1.0, -np.inf, -np.inf], [2.0, np.inf, np.inf]])
    assert figure.mass == 2.0


def test_configuration_by_names() -> None:
    figure = crane()
    np.testing.assert_array_equal(figure.configuration(slide=3.0), [0.5, 3.0, 1.5])
    np.testing.assert_array_equal(figure.configuration([1.0, 2.0, 3.0], swing=0.0), [0.0, 2.0, 3.0])
    with pytest.raises(UnknownName, match="did you mean swing"):
        figure.configuration(swng=1.0)


def test_the_start_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        crane().start[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        crane().name = "other"  # type: ignore[misc]


def test_unknown_names_list_what_comes_close() -> None:
    figure = crane()
    with pytest.raises(UnknownName, match="did you mean tip"):
        figure.frame("tipp")
    with pytest.raises(KeyError):
        figure.index("nothing")
    with pytest.raises(UnknownName, match="there are: base, arm, tip"):
        figure.frame("qqqqqq")


def test_joints() -> None:
    kinds = {joint.name: (joint.kind, len(joint.frames)) for joint in library.marionette22().joints}
    assert kinds["torso"] == ("free", 6)
    assert kinds["lhip"] == ("ball", 3)
    assert kinds["lknee_rx"] == ("hinge", 1)
    assert kinds["left_arm_spindle"] == ("slide", 1)
    order = [joint.name for joint in library.mannequin().joints]
    assert order[:3] == ["pelvis", "waist", "chest"]


def test_equal_and_hashable_and_copied() -> None:
    assert crane() == crane()
    assert hash(crane()) == hash(crane())
    assert crane().replace(name="other") != crane()
    assert pickle.loads(pickle.dumps(library.hand())) == library.hand()
    with pytest.raises(FigureError):
        crane().replace(frames=())


def test_repr_tells_what_it_is() -> None:
    assert repr(crane()) == "<Figure crane: 1 dynamic + 2 kinematic variables, 1 bodies, 1 strings, 1 contacts, 2 kg>"


NAN = (0.0, math.nan, 0.0)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": ""}, "figure: the figure has no name"),
    "gravity": ({"gravity": NAN}, "figure: gravity: gravity is not finite"),
    "taken frame": ({"frames": (BASE, ARM, TIP, Frame("tip"))}, "frame 'tip': the name is taken"),
    "frame called world": ({"frames": (BASE, ARM, TIP, Frame("world"))}, "frame 'world': the name is taken"),
    "missing parent": ({"frames": (BASE, ARM, TIP, Frame("x", "brm"))}, "frame 'x': parent: no frame is called 'brm'"),
    "child first": ({"frames": (ARM, BASE, TIP)}, "frame 'arm': parent: its parent 'base' comes later"),
    "cycle": (
        {"frames": (BASE, ARM, TIP, Frame("x", "y"), Frame("y", "x"))},
        "frame 'x': parent: its parent 'y' comes later",
    ),
    "own parent": ({"frames": (BASE, ARM, TIP, Frame("x", "x"))}, "frame 'x': parent: its parent 'x' comes later"),
    "taken variable": (
        {"frames": (BASE, ARM, TIP, Frame("x", variable=Variable("swing")))},
        "variable 'swing': the name is taken",
    ),
    "length moves": ({"lengths": (LENGTH, Variable("x", "rotate"))}, "variable 'x': a length variable must be kinematic"),
    "body": ({"bodies": (Body("hook", 1.0),)}, "body 'hook': frame: no frame is called 'hook'"),
    "shape": ({"shapes": (Shape("hook", Sphere(1.0)),)}, "shape 'hook': frame: no frame is called 'hook'"),
    "hook": (
        {"strings": (String("rope", Point("tap"), Point("world"), 1.0),)},
        "string 'rope': hook: no frame is called 'tap'",
    ),
    "eyelet": (
        {"strings": (String("rope", Point("tip"), Point("world"), 1.0, eyelets=(Point("tap"),)),)},
        "string 'rope': eyelets: no frame is called 'tap'",
    ),
    "spindle": (
        {"wires": (Wire("stay", Point("tip"), Point("tap"), 1.0),)},
        "wire 'stay': spindle: no frame is called 'tap'",
    ),
    "hook not finite": (
        {"strings": (String("rope", Point("tip", NAN), Point("world"), 1.0),)},
        "string 'rope': hook: not a finite",
    ),
    "length": (
        {"strings": (String("rope", Point("tip"), Point("world"), variable="wind"),)},
        "string 'rope': length: no variable is called 'wind'",
    ),
    "string and wire": ({"wires": (Wire("rope", Point("tip"), Point("world"), 1.0),)}, "string 'rope': the name is taken"),
    "spring": ({"springs": (Spring("coil", Point("tip"), Point("bass")),)}, "spring 'coil': b: no frame is called 'bass'"),
    "two springs": ({"springs": (Spring("c", Point("tip"), Point("arm")),) * 2}, "spring 'c': the name is taken"),
    "effort": ({"forces": (Effort("motor", "swung"),)}, "force 'motor': variable: no variable is called 'swung'"),
    "effort on kinematic": ({"forces": (Effort("motor", "slide"),)}, "force 'motor': variable: 'slide' is kinematic"),
    "push": ({"forces": (Push("wind", Point("tap"), (1.0, 0.0, 0.0)),)}, "force 'wind': at: no frame is called 'tap'"),
    "contact": ({"contacts": (Contact("floor", Point("tap")),)}, "contact 'floor': point: no frame is called 'tap'"),
    "plane": (
        {"contacts": (Contact("floor", Point("tip"), Point("tap")),)},
        "contact 'floor': plane: no frame is called 'tap'",
    ),
    "closure": ({"closures": (Closure("loop", Point("tip"), Point("tap")),)}, "closure 'loop': b: no frame is called 'tap'"),
    "allowed": ({"allowed": (("tip", "tap"),)}, "allowed pair 'tip tap': allowed: no frame is called 'tap'"),
    "joint": ({"groups": (Joint("wrist", "ball", ("base", "arm", "tip")),)}, "joint 'wrist': a ball joint is rz ry rx"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_contradictions_are_refused(case: str) -> None:
    changes, message = BAD[case]
    with pytest.raises(FigureError) as caught:
        crane(**changes)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Variable("v", "wobble"), "unknown motion 'wobble'"),  # type: ignore[arg-type]
        (lambda: Variable("v", axis=(0.0, 0.0, 0.0)), "the axis has no direction"),
        (lambda: Variable("v", axis=NAN), "not a finite number"),
        (lambda: Variable("v", start=math.inf), "not a finite number"),
        (lambda: Variable("v", lower=1.0, upper=0.0), "lower 1.0 is above upper 0.0"),
        (lambda: Variable("v", lower=math.nan), "lower nan"),
        (lambda: Variable("v", speed=0.0), "speed: must be positive"),
        (lambda: Variable("v", effort=-1.0), "effort: must be positive"),
        (lambda: Variable("v", damping=-1.0), "damping: must be zero or positive"),
        (lambda: Variable("v", stiffness=math.nan), "stiffness: must be zero or positive"),
        (lambda: Variable("v", armature=math.inf), "armature: must be zero or positive"),
        (lambda: Frame("f", position=NAN), "not a finite number"),
        (lambda: Frame("f", rotation=(0.0, 0.0, 0.0, 0.0)), "the quaternion is zero"),
        (lambda: String("s", Point("a"), Point("b")), "a length of 0.0 m"),
        (lambda: String("s", Point("a"), Point("b"), math.nan), "not a finite number"),
        (lambda: Spring("s", Point("a"), Point("b"), -1.0), "stiffness: -1.0 is not allowed"),
        (lambda: Push("p", Point("a"), (0.0, 0.0, 0.0)), "no direction"),
        (lambda: Contact("c", Point("a"), normal=(0.0, 0.0, 0.0)), "the normal has no direction"),
        (lambda: Contact("c", Point("a"), friction=-0.1), "friction: must be zero or positive"),
    ],
)
def test_bad_values_are_refused_with_advice(make: Any, message: str) -> None:
    with pytest.raises(FigureError) as caught:
        make()
    assert message in str(caught.value)
    assert "advice: " in str(caught.value)


def test_directions_are_made_unit() -> None:
    assert Variable("v", axis=(0.0, 3.0, 4.0)).axis == pytest.approx((0.0, 0.6, 0.8))
    assert Frame("f", rotation=(2.0, 0.0, 0.0, 0.0)).rotation == (1.0, 0.0, 0.0, 0.0)
    assert Contact("c", Point("a"), normal=(0.0, 0.0, 5.0)).normal == (0.0, 0.0, 1.0)
