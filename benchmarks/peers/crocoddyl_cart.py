"""The cart-pendulum of `benchmarks/bench_control.py` for Crocoddyl. Run in an environment of its own.

Its dynamics are Pinocchio's with semi-implicit Euler steps, ours a variational integrator's: the two discrete problems agree
to about the step's length. Its library has no actuation for a cart alone, so that one is written here, in Python.
"""

from __future__ import annotations

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def cart_pendulum() -> pin.Model:
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, 0.0, -9.8, 0.0, 0.0, 0.0]))
    cart = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    model.appendBodyToJoint(cart, pin.Inertia(10.0, np.zeros(3), 1e-9 * np.eye(3)), pin.SE3.Identity())
    swing = model.addJoint(cart, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), pin.SE3.Identity(), "theta")
    model.appendBodyToJoint(swing, pin.Inertia(1.0, np.array([0.0, 0.0, -1.0]), 1e-9 * np.eye(3)), pin.SE3.Identity())
    return model


class CartForce(crocoddyl.ActuationModelAbstract):
    """One force, on the cart."""

    def __init__(self, state: crocoddyl.StateMultibody) -> None:
        crocoddyl.ActuationModelAbstract.__init__(self, state, 1)

    def calc(self, data: crocoddyl.ActuationDataAbstract, x: np.ndarray, u: np.ndarray) -> None:
        data.tau[:] = [u[0], 0.0]

    def calcDiff(self, data: crocoddyl.ActuationDataAbstract, x: np.ndarray, u: np.ndarray) -> None:
        data.dtau_du[:] = np.array([1.0, 0.0]).reshape(data.dtau_du.shape)


def problem(wishes: np.ndarray, dt: float, weight: np.ndarray, force: float) -> crocoddyl.ShootingProblem:
    state = crocoddyl.StateMultibody(cart_pendulum())
    actuation = CartForce(state)
    models = []
    for wish in wishes:
        running = len(models) < len(wishes) - 1
        counts = 1.0 if running else dt  # Crocoddyl counts the last sample whole, we count it dt
        costs = crocoddyl.CostModelSum(state, 1)
        aim = np.array([0.0, wish, 0.0, 0.0])
        activation = crocoddyl.ActivationModelWeightedQuad(np.array([*weight, 0.0, 0.0]))
        costs.addCost("state", crocoddyl.CostModelResidual(state, activation, crocoddyl.ResidualModelState(state, aim, 1)), counts)
        if running:
            thrift = crocoddyl.ActivationModelWeightedQuad(np.array([force]))
            costs.addCost("force", crocoddyl.CostModelResidual(state, thrift, crocoddyl.ResidualModelControl(state, 1)), 1.0)
        free = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        free.armature = np.full(2, 1e-12)  # without any, this version's accelerations leave gravity out
        models.append(crocoddyl.IntegratedActionModelEuler(free, dt))
    return crocoddyl.ShootingProblem(np.zeros(4), models[:-1], models[-1])


def main(path: str) -> None:
    given = np.load(path)
    wishes, dt = given["wishes"], float(given["dt"])
    N = len(wishes) - 1
    still = [np.zeros(4)] * (N + 1), [np.zeros(1)] * N
    near = list(given["x"]), list(given["u"])  # our optimum: from there it must find the same
    out = {}
    for name, kind, guess, feasible in (
        ("ddp", crocoddyl.SolverDDP, still, True),
        ("fddp", crocoddyl.SolverFDDP, still, True),
        ("near", crocoddyl.SolverFDDP, near, False),
    ):
        best = np.inf
        for _ in range(2):
            solver = kind(problem(wishes, dt, given["weight"], float(given["force"])))
            solver.th_stop = 1e-9
            begun = time.process_time()
            solver.solve(*guess, 500, feasible)
            best = min(best, time.process_time() - begun)
        out[name] = {"ms": 1e3 * best, "iterations": solver.iter, "cost": solver.cost, "stop": float(solver.stop)}
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
