"""step_derivatives: exact first and second derivatives of one step, in named blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.dynamics.home_momentum import home_momentum
from bunraku.dynamics.push_inputs import pushes
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS, rollout
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE, require_share
from bunraku.dynamics.step_expansion import expand
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Effort, Figure, Push
from bunraku.kinematics.forward import configuration, pose

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """Derivatives of one step.

    Outputs are q1, impulse, p1: the dynamic variables after the step, the impulse of every link, the momentum after it. Inputs are
    q0, p0, k1, u: all variables before the step, the momentum before it, the kinematic variables after it, the force inputs.
    """

    D: Array
    """First derivative (outputs, inputs)."""
    H: Array | None
    """Second derivative (outputs, inputs, inputs); of the outputs weighted with a covector (inputs, inputs), where one was given;
    None of order 1."""
    outputs: Mapping[str, slice]
    """The rows of every output."""
    inputs: Mapping[str, slice]
    """The columns of every input."""
    names: tuple[str, ...] = ()
    """Of the states (q, p): what A is about."""
    switching: tuple[str, ...] = ()
    """Links that are just between taut and slack: gap and tension are both zero. The derivative is that of the side they are on."""

    __repr__ = brief

    def block(self, *names: str) -> Array:
        """Part of a derivative, by `names` of what is differentiated and by what.

        `block("p1", "q0")` is ∂p1/∂q0 and `block("p1", "q0", "u")` is ∂²p1/∂q0∂u. Where a covector was given, `block("q0", "u")`
        is the second derivative of the outputs weighted with it. Raises BunrakuError where there is no such derivative.
        """
        weighted = self.H is not None and self.H.ndim == 2
        of_outputs = len(names) > 0 and names[0] in self.outputs
        parts: tuple[Mapping[str, slice], ...]
        if len(names) == 2 and of_outputs:
            whole, parts = self.D, (self.outputs, self.inputs)
        elif self.H is not None and len(names) == (2 if weighted else 3):
            whole, parts = self.H, (self.inputs, self.inputs) if weighted else (self.outputs, self.inputs, self.inputs)
        else:
            raise BunrakuError(f"no derivative {', '.join(names)!r} here\n  advice: {self._advice()}")
        for part, name in zip(parts, names, strict=True):
            if name not in part:
                raise UnknownName("output" if part is self.outputs else "input", name, tuple(part))
        return whole[tuple(part[name] for part, name in zip(parts, names, strict=True))]

    def _advice(self) -> str:
        if self.H is None:
            return "give an output and an input, or ask for order=2"
        return 'give an output and an input, as in block("p1", "q0"), or ' + (
            "two inputs" if self.H.ndim == 2 else "an output and two inputs"
        )

    @property
    def A(self) -> Array:
        """∂(q, p)₁/∂(q, p)₀, kinematic variables included; theirs are zero, as the puppeteer sets them anew."""
        n, nq = self.outputs["q1"].stop, self.inputs["q0"].stop
        A = np.zeros((nq + n, nq + n))
        A[:n] = self.D[self.outputs["q1"], : nq + n]
        A[nq:] = self.D[self.outputs["p1"], : nq + n]
        return A

    @property
    def B(self) -> Array:
        """∂(q, p)₁/∂(k1, u)."""
        n, nq = self.outputs["q1"].stop, self.inputs["q0"].stop
        B = np.zeros((nq + n, self.D.shape[1] - nq - n))
        B[:n] = self.D[self.outputs["q1"], nq + n :]
        B[n:nq, : nq - n] = np.eye(nq - n)
        B[nq:] = self.D[self.outputs["p1"], nq + n :]
        return B


def step_derivatives(
    figure: Figure, q0: ArrayLike, q1: ArrayLike, impulse: ArrayLike, states: ArrayLike, *, dt: float,
    forces: ArrayLike | None = None, share: float = LEFT_SHARE, order: int = 1,
    covector: ArrayLike | Mapping[str, ArrayLike] | None = None,
) -> StepDerivatives:  # fmt: skip
    """Exact derivatives of (q1, impulse, p1) with respect to (q0, p0, k1, u), for the step of `figure` from `q0` to `q1`.

    figure: what moves
    q0: the configuration before the step
    q1: the configuration after it
    impulse: of every link [N·s], as `Simulation.run` gives it
    states: of every link: 0 slack, 1 acting, 2 sliding, likewise
    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step; the rest acts at its end
    order: 1, or 2 for the second derivative as well
    covector: weights of all outputs, or by name ("q1", "impulse", "p1"; those not named are zero): then the second derivative is
        that of the outputs weighted with them, which takes little longer than the first

    Returns StepDerivatives, of which `block` gives parts by name. Raises BunrakuError where the step has no derivative, or where an
    argument does not fit the figure.
    """
    tree = figure.compiled.tree
    n, nq, nc, nu = figure.n_dynamic, figure.n_q, len(tree.links), len(figure.forces)
    require_share(share)
    if order not in (1, 2):
        raise BunrakuError(f"the order is {order!r}\n  advice: give 1 or 2")
    if covector is not None and order == 1:
        raise BunrakuError("a covector weighs second derivatives\n  advice: give order=2 as well")
    start, end = configuration(figure, q0), configuration(figure, q1)
    lam, acting = _row("impulse", impulse, nc, "links"), _row("states", states, nc, "links").astype(np.int8)
    u = np.zeros(nu) if forces is None else _row("forces", forces, nu, "force inputs")
    outputs = _slices(q1=n, impulse=nc, p1=n)
    inputs = _slices(q0=nq, p0=n, k1=nq - n, u=nu)
    Z = np.zeros((0, 2 * n + nc))
    if order == 2:
        Z = np.eye(2 * n + nc) if covector is None else _weights(covector, outputs)[None]
    D, H = np.empty((2 * n + nc, 2 * nq)), np.empty((len(Z), 2 * nq, 2 * nq))
    expand(tree, acting, start, end, lam, u, dt, share, Z, D, H)
    if not (np.isfinite(D).all() and np.isfinite(H).all()):
        raise BunrakuError(f"{figure.name}: the step has no derivative here")
    # A force is a change of momentum, share·E before the step and the rest after it.
    E = dt * force_matrix(figure, 0.5 * (start + end))
    D = np.concatenate([D, share * D[:, inputs["p0"]] @ E], 1)
    D[outputs["p1"], inputs["u"]] += (1.0 - share) * E
    if order == 2:
        H = _with_forces(figure, start, end, dt, share, E, D, Z, H, inputs)
    second = None if order == 1 else H if covector is None else H[0]
    names = (*figure.names, *(f"momentum of {name}" for name in figure.dynamic))
    return StepDerivatives(D, second, outputs, inputs, names, _switching(figure, end, lam / dt))


def _row(name: str, given: ArrayLike, size: int, of: str) -> Array:
    row = np.ascontiguousarray(given, float)
    if row.shape != (size,):
        raise BunrakuError(f"{name} has shape {row.shape}; there are {size} {of}\n  advice: give one number for each")
    return row


def _slices(**sizes: int) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return {name: slice(a, b) for name, a, b in zip(sizes, ends, ends[1:], strict=False)}


def _weights(covector: ArrayLike | Mapping[str, ArrayLike], outputs: Mapping[str, slice]) -> Array:
    size = outputs["p1"].stop
    if not isinstance(covector, Mapping):
        return _row("covector", covector, size, "outputs")
    z = np.zeros(size)
    for name, part in covector.items():
        if name not in outputs:
            raise UnknownName("output", name, tuple(outputs))
        rows = outputs[name]
        z[rows] = _row(f"covector of {name}", part, rows.stop - rows.start, "of these outputs")
    return z


def _with_forces(
    figure: Figure, q0: Array, q1: Array, dt: float, share: float, E: Array, D: Array, Z: Array, H: Array,
    inputs: Mapping[str, slice],
) -> Array:  # fmt: skip
    """H with the force inputs among the inputs.

    They act like a change of momentum share·E u. What a push does, E, also depends on the configuration in the middle of the step.
    """
    n, nq, nu = figure.n_dynamic, figure.n_q, E.shape[1]
    by = np.concatenate([np.eye(2 * nq), np.zeros((2 * nq, nu))], 1)
    by[inputs["p0"], inputs["u"]] = share * E
    out: Array = by.T @ H @ by
    if any(isinstance(force, Push) for force in figure.forces):
        covectors = np.ascontiguousarray(share * Z @ D[:, inputs["p0"]] + (1.0 - share) * Z[:, -n:])
        turn = np.zeros((len(Z), nu, nq))  # covector · ∂E/∂q
        steps = np.array([q0, q1] * len(Z))[: len(Z) + 1]  # there and back: the middle is the same
        pushes(figure.compiled.tree, np.arange(nu), steps, covectors, dt, np.zeros((len(Z), n, nu)), turn)
        middle = np.zeros((nq, D.shape[1]))
        middle[:, :nq] = 0.5 * np.eye(nq)
        middle[:n] += 0.5 * D[:n]
        middle[n:, inputs["k1"]] += 0.5 * np.eye(nq - n)
        mixed = turn @ middle
        out[:, inputs["u"], :] += mixed
        out[:, :, inputs["u"]] += mixed.transpose(0, 2, 1)
    return out


def force_matrix(figure: Figure, q: ArrayLike) -> Array:
    """∂F/∂u (n_dynamic, inputs): what the force inputs of `figure` do to its dynamic variables at `q`."""
    n, here = figure.n_dynamic, pose(figure, q)
    B = np.zeros((n, len(figure.forces)))
    for k, force in enumerate(figure.forces):
        if isinstance(force, Effort):
            B[figure.index(force.variable), k] = force.gain
        else:
            e = here.X(force.at.frame)[:3, :3] @ force.direction if force.turns else np.array(force.direction)
            B[:, k] = here.point_jacobian(force.at.frame, force.at.position)[:, :n].T @ e
    return B


@dataclass(frozen=True)
class OneStep:
    """The result of one step."""

    q: Array
    momentum: Array
    impulse: Array
    """Of every link: tension · dt [N·s]."""
    states: NDArray[np.int8]
    """Of every link: 0 slack, 1 acting, 2 sliding."""
    bits: int
    """What happened: see bunraku.dynamics.rollout."""


def step_once(
    figure: Figure, q0: ArrayLike, p0: ArrayLike, k1: ArrayLike, *, dt: float, forces: ArrayLike | None = None,
    share: float = LEFT_SHARE, tolerance: float = STEP_TOLERANCE,
) -> OneStep:  # fmt: skip
    """One step of `figure` from (`q0`, `p0`) to kinematic variables `k1`: the function whose derivatives `step_derivatives` are.

    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step; the rest acts at its end
    tolerance: error that Newton's method may leave [rad or m]

    Ball joints stay in the coordinates of their file. Raises BunrakuError where these are singular after the step.
    """
    tree = figure.compiled.tree
    n, nq, nc = figure.n_dynamic, figure.n_q, len(tree.links)
    u = np.zeros(len(figure.forces)) if forces is None else np.asarray(forces, float)
    q, p, lam = np.repeat(configuration(figure, q0)[None], 4, 0), np.array(p0, float), np.zeros(nc)
    out = np.empty((1, nq)), np.empty((1, n)), np.empty((1, nc)), np.empty((0, nc)), np.empty((0, 2))
    states, bits, charts = np.empty((1, nc), np.int8), np.empty(1, np.int64), np.repeat(np.eye(3)[None], len(tree.balls), 0)
    rollout(
        tree, q, p, lam, charts, np.zeros(nc, np.bool_), np.array(k1, float)[None], np.ascontiguousarray(u[None]), dt, share,
        tolerance, *out, states, bits,
    )  # fmt: skip
    q1, p1 = out[0][0], home_momentum(figure, charts, q[0], out[0][0], out[1][0])
    return OneStep(q1, p1, out[2][0], states[0], int(bits[0]) & ~STEP_BITS.recharted)  # back in the file's coordinates


def _switching(figure: Figure, q: Array, tension: Array) -> tuple[str, ...]:
    """The links that pull only, are closed, and do not pull."""
    none = 1e-8  # [m of a gap, N of a tension]
    gaps, _ = gap_derivatives(figure, q)
    between = (figure.compiled.tree.links["pulls"] > 0) & (gaps > -none) & (np.abs(tension) < none)
    return tuple(name for name, here in zip(figure.compiled.link_names, between, strict=True) if here)
