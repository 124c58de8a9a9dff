"""Lengths and moment arms of the tendons of MJCF models, ours against MuJoCo's, and both against 50 digits.

    python -m tests.tendons model.xml … [--samples 100]

Where ours and MuJoCo's differ by more than `--tolerance`, and at about `--judged` other places, the length and the arm of the
joint at which they differ most are computed in 50 digits (tests.exact_tendons).

Public models with tendons that wrap: MyoSuite's myo_sim (hand, elbow, legs, torso, body, finger), MuJoCo's model/tendon_arm, and of
its menagerie ms_human_700, iit_softfoot and tetheria_aero_hand_open. None of them is part of this repository.
"""

from __future__ import annotations

import argparse
import warnings
from decimal import Decimal

import mujoco
import numpy as np

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf import mjcf_file
from bunraku.io.mjcf.mjcf_codes import JointType
from bunraku.io.mjcf.mjcf_compile import compiled
from bunraku.io.mjcf.mjcf_read import BodyTree
from tests.exact_tendons import ExactTendons


class Differences:
    """The largest."""

    def __init__(self) -> None:
        self.length = self.arm = self.own_length = self.own_arm = self.their_length = self.their_arm = 0.0
        self.ways = self.above = self.judged = 0
        self.worst: dict[str, float] = {}

    def compare(self, name: str, off: tuple[float, float], tolerance: float) -> bool:
        """Ours and MuJoCo's. Returns whether they differ."""
        self.length, self.arm = max(self.length, off[0]), max(self.arm, off[1])
        self.ways += 1
        differs = max(off) > tolerance
        if differs:
            self.above += 1
            self.worst[name] = max(self.worst.get(name, 0.0), *off)
        return differs

    def judge(self, exact: tuple[Decimal, Decimal], ours: tuple[float, float], theirs: tuple[float, float]) -> None:
        """Lengths and arms."""
        own, their = ([abs(float(Decimal(a) - b)) for a, b in zip(pair, exact, strict=True)] for pair in (ours, theirs))
        self.own_length, self.own_arm = max(self.own_length, own[0]), max(self.own_arm, own[1])
        self.their_length, self.their_arm = max(self.their_length, their[0]), max(self.their_arm, their[1])
        self.judged += 1

    def __str__(self) -> str:
        ours = f"ours {self.own_length:.1e} m, {self.own_arm:.1e}"
        theirs = f"MuJoCo's {self.their_length:.1e} m, {self.their_arm:.1e}"
        worst = sorted(self.worst, key=lambda name: -self.worst[name])[:5]
        apart = (
            f"length {self.length:.1e} m, arm {self.arm:.1e} apart, {self.above} of {self.ways} above ({', '.join(worst) or '–'})"
        )
        return f"{apart}; {self.judged} judged by 50 digits: {ours}; {theirs}"


def compare(path: str, samples: int, tolerance: float, judged: int) -> str:
    """Largest differences at `samples` random configurations within the limits of the joints, in a line.

    path: the MJCF file.
    tolerance: above which a length [m] or an arm [m or m/rad] is counted, and judged in 50 digits.
    judged: how many others are, too.
    """
    figure = mjcf_file.load(path)
    model = compiled(xml_text.read(path, root="mujoco"), path)[1]
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    variable = BodyTree(model, Leftovers(path)).joint_variable
    plain = [j for j in range(model.njnt) if model.jnt_type[j] in (JointType.HINGE, JointType.SLIDE)]
    places, dofs = [figure.index(variable[j]) for j in plain], model.jnt_dofadr[plain]
    own = {model.tendon(t).name or f"tendon{t}": t for t in range(model.ntendon)}
    ropes = [(c, own[s.name], s) for c, s in enumerate((*figure.strings, *figure.wires))]
    found, others = Differences(), judged / (samples * len(ropes))
    for _ in range(samples):
        q, data.qpos[:] = figure.start.copy(), model.qpos0
        for j, k in zip(plain, places, strict=True):
            q[k] = data.qpos[model.jnt_qposadr[j]] = rng.uniform(*(model.jnt_range[j] if model.jnt_limited[j] else (-1.0, 1.0)))
        mujoco.mj_forward(model, data)
        exact = ExactTendons(model, data)
        gaps, A = gap_derivatives(figure, q)
        J = np.zeros((model.ntendon, model.nv))
        mujoco.mju_sparse2dense(
            J, data.ten_J.ravel(), *(x.ravel() for x in (model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind))
        )
        for c, t, string in ropes:
            length = gaps[c] + string.wound(0.0 if string.variable is None else float(q[figure.index(string.variable)]))
            arms = np.abs(A[c, places] - J[t, dofs])
            k = int(arms.argmax())
            differs = found.compare(string.name, (abs(length - data.ten_length[t]), float(arms[k])), tolerance)
            if differs or rng.random() < others:
                found.judge(
                    (exact.length(t), exact.arm(t, plain[k])),
                    (float(length), float(A[c, places[k]])), (float(data.ten_length[t]), float(J[t, dofs[k]])),
                )  # fmt: skip
    return f"{len(plain)} joints, {len(ropes)} tendons, {sum(s.wraps for _, _, s in ropes)} over pulleys: {found}"


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--judged", type=int, default=300)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for path in asked.models:
        print(path, compare(path, asked.samples, asked.tolerance, asked.judged), flush=True)


if __name__ == "__main__":
    main()
