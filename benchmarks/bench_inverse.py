"""Inverse kinematics: Talos with four tasks against placo, pink and mink; whole solves; closed-form arms.

All four solvers get the same robot, tasks, weights and path: two feet and the centre of mass stay, a hand follows an
eight, joints stay near their posture. One solve a sample, each from the one before; targets are set and kinematics
updated within the time. `free`: without limits; `limits`: with joint limits, none of which binds; `strict`: feet first.
"""

from __future__ import annotations

import functools
import importlib.metadata
import tempfile
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.environment import Unavailable, python_of, result_of
from benchmarks.peers.tracking import Problem, measure
from benchmarks.table import Ratio, best_of
from bunraku.errors import BunrakuWarning
from bunraku.figure import Figure, library
from bunraku.io.urdf import urdf_reader
from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.kinematics.inverse.drag import Drag
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import CentreOfMass, FramePose, Posture

PEERS = {  # environment, what is installed there, script
    "placo": ("placo", ("placo==0.10.2",), "placo_ik.py"),
    "pink": ("pink", ("pin-pink==4.4.0", "daqp==0.10.3"), "pink_ik.py"),
    "mink": ("mink", ("mink==1.3.0", "daqp==0.10.3"), "mink_ik.py"),
}
RATIOS = {
    "inverse.placo_ratio": Ratio("talos.ik_us", "placo.ik_us", at_most=1.0),
    "inverse.placo_strict_ratio": Ratio("talos.ik_strict_us", "placo.ik_strict_us", at_most=1.0),
    "inverse.pink_ratio": Ratio("talos.ik_us", "pink.ik_us", at_most=0.25),
    "inverse.mink_ratio": Ratio("talos.ik_us", "mink.ik_us", at_most=0.25),
    "inverse.drag_share": Ratio("mannequin.drag_us", "mouse.event_us", at_most=0.25),
}
NOTES = {
    "talos.ik_us": "38 variables, four tasks and posture, joint limits",
    "talos.ik_error_mm": "the largest distance of the hand from its path",
    "talos.solve_us": "from the posture to a hand target 15 cm away, feet and centre of mass strict, to 1e-8",
    "talos.bounded_us": "a step of which limits bind: a QP for each of three levels",
    "mannequin.drag_us": "a hand follows the mouse by 14 mm, both feet pinned",
    "mouse.event_us": "from one event of a mouse to the next, 60 a second",
    "arm7.solve_us": "ball – hinge – ball, one of 10,000 poses: all eight solutions, the nearest within limits",
    "arm6.solve_us": "the same for turret – two hinges – ball",
}


def talos(folder: Path) -> Path:
    """The robot's URDF without its meshes, which not everybody finds."""
    files = importlib.metadata.files("example-robot-data") or []
    found = next(f for f in files if str(f).endswith("example-robot-data/robots/talos_data/robots/talos_reduced.urdf"))
    tree = ElementTree.parse(found.locate())
    for link in tree.iter("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    path = folder / "talos.urdf"
    tree.write(path)
    return path


def problem_of(path: Path) -> tuple[Figure, np.ndarray, Problem]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        figure = urdf_reader.load(path, floating_base=True)
    joints = dict.fromkeys(figure.names[6:], 0.0)
    for side, sign in (("left", 1), ("right", -1)):
        joints |= {f"leg_{side}_{k}_joint": angle for k, angle in ((3, -0.5), (4, 1.0), (5, -0.5))}
        joints |= {f"arm_{side}_{k}_joint": angle for k, angle in ((1, 0.3 * sign), (2, 0.4 * sign), (3, -0.5 * sign), (4, -1.4))}
        joints[f"gripper_{side}_joint"] = -0.3
    q = figure.configuration(**joints)
    hand = "gripper_left_base_link"
    s = np.linspace(0.0, 2.0 * np.pi, 501)[1:]
    targets = np.tile(pose(figure, q).X(hand), (len(s), 1, 1))
    targets[:, :3, 3] += np.stack([0.05 * np.sin(2 * s), 0.1 * np.sin(s), 0.1 * (1 - np.cos(s))], 1)
    return figure, q, Problem(str(path), joints, ("left_sole_link", "right_sole_link"), hand, targets)


def ours(figure: Figure, start: np.ndarray, problem: Problem, *, strict: bool, limits: bool) -> dict[str, float]:
    tasks = [FramePose(foot, priority=0) for foot in problem.feet]
    others = [CentreOfMass(priority=int(strict)), FramePose(problem.hand, name="hand", priority=int(strict))]
    posture = Posture(weight=problem.posture, variables=list(problem.joints), priority=int(strict))
    ik = Inverse(
        figure, [*tasks, *others, posture], start=start, joint_limits=limits, options=InverseOptions(damping=problem.damping)
    )
    q, aims = start, ik.aim()
    position, rotation = ik.view("hand", aims)

    def reset() -> None:
        nonlocal q
        q = start

    def solve(target: np.ndarray) -> None:
        nonlocal q
        position[:] = target[:3, 3]
        rotation[:] = target[:3, :3]
        q = ik.step(q, aims)

    return measure(problem, reset, solve, lambda: pose(figure, q).X(problem.hand))


def bench_talos() -> dict[str, float]:
    out: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        figure, q, problem = problem_of(talos(Path(folder)))
        saved = str(Path(folder) / "problem.npz")
        problem.save(saved)
        errors = {}
        for key, words in (("", {"strict": False, "limits": True}), ("_strict", {"strict": True, "limits": True})):
            result = ours(figure, q, problem, **words)
            out[f"talos.ik{key}_us"], errors[f"talos{key}"] = result["us"], result["position"]
        out["talos.ik_error_mm"] = 1e3 * errors["talos"]
        for name, (environment, packages, script) in PEERS.items():
            try:
                found = result_of(python_of(environment, packages), script, saved)
            except Unavailable as reason:
                warnings.warn(f"{name} is left out: {reason}", stacklevel=1)
                continue
            out[f"{name}.ik_us"] = found["limits"]["us"]
            out[f"{name}.ik_free_us"] = found["free"]["us"]
            if "strict" in found:
                out[f"{name}.ik_strict_us"] = found["strict"]["us"]
            errors[name] = found["limits"]["position"]
    if max(errors.values()) > 1.02 * min(errors.values()):
        raise AssertionError(f"the tracking errors differ, so the times say nothing: {errors}")
    return out


def bench_solve() -> dict[str, float]:
    """Whole solves, and a step whose limits bind."""
    with tempfile.TemporaryDirectory() as folder:
        figure, q, problem = problem_of(talos(Path(folder)))
    feet = [FramePose(foot) for foot in problem.feet]
    ik = Inverse(figure, [*feet, CentreOfMass(priority=1), FramePose(problem.hand, name="hand", priority=1), Posture()], start=q)
    target = problem.targets[0].copy()
    target[:3, 3] += (0.1, 0.1, 0.05)
    aims = ik.aim(hand=target)
    solution = ik.solve(q, aims)
    if not solution.outcome.ok:
        raise AssertionError(solution.outcome.advice)
    return {
        "talos.solve_us": best_of(lambda: ik.solve(q, aims)),
        "talos.solve_iterations": solution.iterations,
        "talos.bounded_us": best_of(lambda: ik.step(q, aims, largest=0.02)),
    }


def bench_drag() -> dict[str, float]:
    """A drag must keep up with the mouse, with much to spare."""
    figure = library.named("mannequin")
    drag = Drag(figure, figure.start, "left_palm", pins=["left_sole", "right_sole"])
    path = pose(figure).point("left_palm") + 0.01 * np.arange(30)[:, None] * (1.0, 0.0, 1.0)
    return {"mannequin.drag_us": best_of(lambda: drag.along(path)) / len(path), "mouse.event_us": 1e6 / 60}


def bench_arms() -> dict[str, float]:
    """10,000 random reachable poses each, every branch considered, limits kept."""
    out = {}
    for key, name, tool in (("arm7", "mannequin", "left_palm"), ("arm6", "mobile_manipulator", "tool")):
        figure = library.named(name)
        arm = closed_form(figure, tool)
        lower, upper = arm.limits
        angles = np.random.default_rng(7).uniform(lower, upper, (10_000, len(lower)))
        Q = np.tile(figure.start, (len(angles), 1))
        Q[:, arm.indices] = angles
        X = frames_along(figure, Q)[:, figure.frame_index[tool]]
        swivel = arm.swivels_of(angles) if arm.swivels else np.zeros(len(X))
        solved, found = arm.nearest_many(X, swivel=swivel)
        Q[:, arm.indices] = solved
        error = float(np.abs(frames_along(figure, Q)[:, figure.frame_index[tool]] - X).max())
        if not found.all() or not error <= 1e-9:
            raise AssertionError(f"{name}: {int((~found).sum())} failures, error {error:.1e}")
        out[f"{key}.solve_us"] = best_of(functools.partial(arm.nearest_many, X, swivel=swivel), number=1) / len(X)
        out[f"{key}.error_nm"] = 1e9 * error
    return out
