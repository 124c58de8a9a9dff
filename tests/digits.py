"""How many digits derivatives of steps have: the table of docs/numbers.md, from random states.

    python -m tests.digits [--seed N] [FIGURE …]

Largest relative errors of first and second derivatives against 50-digit arithmetic, at the step that bunraku found and (again)
at the one that 50 digits find from the same start; and the error of the symplectic form. The error of a block, say ∂p1/∂q0, is
its largest error over its largest entry. A large figure takes minutes.
"""

from __future__ import annotations

import argparse

import numpy as np

from bunraku.figure import library
from tests.dynamics.test_digits import LARGE, compared, derivatives, exactly, first_errors, some_step, symplectic_error
from tests.exact_step import ExactStep


def row(name: str, seed: int) -> str:
    figure = library.named(name)
    case, step = some_step(figure, seed)
    first, second = (max(off.values()) for off in compared(case, step, exactly(case, step), seed))
    exact = ExactStep(figure.compiled.tree, step.states, case.q0, step.q, step.impulse)
    solved = exact.solve(case.q0, case.p0, case.k1, case.u, case.dt, case.share, step.q, step.impulse)
    again = max(first_errors(derivatives(case, step), solved.first).values())
    off = np.abs(solved.q1 - step.q[: figure.n_dynamic]).max()
    form = symplectic_error(case, step)
    acting = int((step.states > 0).sum())
    return f"| {name} | {acting} | {first:.1e} | {second:.1e} | {again:.1e} | {form:.1e} | {off:.1e} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("figures", nargs="*", default=LARGE, metavar="FIGURE")
    parser.add_argument("--seed", type=int, default=1, help="of the random state")
    options = parser.parse_args()
    print("| figure | links that act | first | second | first again | symplectic form | q1 [rad or m] |")
    print("|---|---|---|---|---|---|---|")
    for name in options.figures:
        print(row(name, options.seed), flush=True)


if __name__ == "__main__":
    main()
