"""Forward kinematics and all Jacobians of the marionette, against Pinocchio on the same tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.table import Ratio, best_of, interleaved
from bunraku.figure import WORLD, Figure, library
from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.tree import forward

RATIOS = {
    "kinematics.forward_ratio": Ratio("marionette22.forward_us", "pinocchio40.forward_us", at_most=2.0),
    "kinematics.frames_ratio": Ratio("marionette22.frames_us", "pinocchio40.frames_us"),
}
NOTES = {
    "marionette22.forward_us": "pose(figure, q): every joint's place and screw, q checked",
    "pinocchio40.forward_us": "forwardKinematics + computeJointJacobians, 34 joints",
    "marionette22.forward_kernel_us": "the same kernel on arrays that are already there",
    "marionette22.frames_us": "pose(figure, q).frames",
    "pinocchio40.frames_us": "and updateFramePlacements of as many frames",
    "marionette22.frames_along_us": "frames_along, a sample of 1000",
}


def pinocchio_model(figure: Figure) -> Any:
    """The same tree: a joint for every frame that moves (massless carriages too), a frame for every frame."""
    import pinocchio as pin

    model = pin.Model()
    carrier = {WORLD: 0}
    behind = {WORLD: pin.SE3.Identity()}  # the constant way from the carrying joint
    for frame in figure.frames:
        own = pin.SE3(pin.Quaternion(*frame.rotation).matrix(), np.array(frame.position))
        j, X = carrier[frame.parent], behind[frame.parent] * own
        variable = frame.variable
        if variable is not None:
            axis = "XYZ"[variable.axis.index(1.0)]
            kind = getattr(pin, f"JointModel{'R' if variable.motion == 'rotate' else 'P'}{axis}")
            j, X = model.addJoint(j, kind(), X, variable.name), pin.SE3.Identity()
        carrier[frame.name], behind[frame.name] = j, X
        model.addFrame(pin.Frame(frame.name, j, 0, X, pin.FrameType.OP_FRAME))
    return model


def bench_forward() -> dict[str, float]:
    import pinocchio as pin

    figure = library.named("marionette22")
    q = figure.start + 0.1
    model = pinocchio_model(figure)
    data = model.createData()
    q_pin = np.array([q[figure.index(name)] for name in list(model.names)[1:]])
    joints = figure.compiled.tree.joints
    n = len(joints)
    arrays = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))

    def theirs() -> None:
        pin.forwardKinematics(model, data, q_pin)
        pin.computeJointJacobians(model, data)

    def their_frames() -> None:
        theirs()
        pin.updateFramePlacements(model, data)

    check_agreement(figure, q, model, data, their_frames)
    return interleaved({
        "marionette22.forward_us": lambda: pose(figure, q),
        "pinocchio40.forward_us": theirs,
        "marionette22.forward_kernel_us": lambda: forward(joints, q, *arrays),
        "marionette22.frames_us": lambda: pose(figure, q).frames,
        "pinocchio40.frames_us": their_frames,
    })  # fmt: skip


def check_agreement(figure: Figure, q: np.ndarray, model: Any, data: Any, run: Any) -> None:
    """Both must compute the same thing for a comparison to mean anything."""
    run()
    ours = pose(figure, q)
    for frame in figure.frames:
        X = data.oMf[model.getFrameId(frame.name)].homogeneous
        if not np.allclose(ours.X(frame.name), X, rtol=0.0, atol=1e-12):
            raise AssertionError(f"frame {frame.name} differs")


def bench_samples() -> dict[str, float]:
    figure = library.named("marionette22")
    Q = figure.start + np.random.default_rng(1).uniform(-0.5, 0.5, (1000, figure.n_q))
    return {"marionette22.frames_along_us": best_of(lambda: frames_along(figure, Q)) / len(Q)}
