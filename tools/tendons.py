"""Lengths and moment arms of the tendons of MJCF models, ours against MuJoCo's.

    python tools/tendons.py model.xml … [--samples 100]

Public models with tendons that wrap: MyoSuite's myo_sim (hand, arm, elbow, legs, torso, finger), MuJoCo's model/tendon_arm. None of
them is part of this repository.
"""

from __future__ import annotations

import argparse
import warnings

import mujoco
import numpy as np

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf import mjcf_file
from bunraku.io.mjcf.mjcf_codes import JointType
from bunraku.io.mjcf.mjcf_compile import compiled
from bunraku.io.mjcf.mjcf_read import BodyTree


def compare(path: str, samples: int, tolerance: float) -> str:
    """Largest differences at `samples` random configurations within the limits of the joints, in a line.

    path: the MJCF file.
    tolerance: above which a length [m] or an arm [m or m/rad] is counted.
    """
    figure = mjcf_file.load(path)
    model = compiled(xml_text.read(path, root="mujoco"), path)[1]
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    variable = BodyTree(model, Leftovers(path)).joint_variable
    plain = [j for j in range(model.njnt) if model.jnt_type[j] in (JointType.HINGE, JointType.SLIDE)]
    places, dofs = [figure.index(variable[j]) for j in plain], model.jnt_dofadr[plain]
    own = {model.tendon(t).name or f"tendon{t}": t for t in range(model.ntendon)}
    ropes = [(c, own[s.name], s) for c, s in enumerate((*figure.strings, *figure.wires))]
    bend, length, arm, above = 0, 0.0, 0.0, dict[str, float]()
    for _ in range(samples):
        q, data.qpos[:] = figure.start.copy(), model.qpos0
        for j, k in zip(plain, places, strict=True):
            q[k] = data.qpos[model.jnt_qposadr[j]] = rng.uniform(*(model.jnt_range[j] if model.jnt_limited[j] else (-1.0, 1.0)))
        mujoco.mj_forward(model, data)
        gaps, A = gap_derivatives(figure, q)
        J = np.zeros((model.ntendon, model.nv))
        mujoco.mju_sparse2dense(
            J, data.ten_J.ravel(), *(x.ravel() for x in (model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind))
        )
        for c, t, string in ropes:
            ours = gaps[c] + string.wound(0.0 if string.variable is None else float(q[figure.index(string.variable)]))
            off = abs(ours - data.ten_length[t]), float(np.abs(A[c, places] - J[t, dofs]).max(initial=0.0))
            length, arm = max(length, off[0]), max(arm, off[1])
            bend += string.wraps
            if max(off) > tolerance:
                above[string.name] = max(above.get(string.name, 0.0), *off)
    said = ", ".join(f"{name} {off:.1e}" for name, off in above.items()) or "none"
    found = f"length {length:.1e} m, arm {arm:.1e}; above {tolerance:g}: {said}"
    return f"{len(plain)} joints, {len(ropes)} tendons, {bend} ways over pulleys: {found}"


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for path in asked.models:
        print(path, compare(path, asked.samples, asked.tolerance), flush=True)


if __name__ == "__main__":
    main()
