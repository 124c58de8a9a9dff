"""Cases of a sweep: every combination of values (a grid) or random samples, each with every seed."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bunraku
from bunraku.errors import BunrakuError
from bunraku.io.yaml.node import Node
from bunraku.sweeps.order_document import OrderDocument, canonical
from bunraku.sweeps.swept_values import Axis, RandomRange, axis_of, number_node
from bunraku.sweeps.value_paths import Place

Values = tuple[Node, ...]
"""One value for each swept path."""


@dataclass(frozen=True, eq=False)
class Case:
    """One run of a sweep."""

    values: Values
    seed: int | None
    """The seed of the run; None for that of the order."""
    key: str
    """A hash of its content: the same for the same run, in any sweep."""


@dataclass(frozen=True, eq=False)
class Cases:
    """All runs of a sweep, in the order of the table."""

    document: OrderDocument
    """With the files that the paths lead into written out."""
    paths: tuple[str, ...]
    where: tuple[tuple[Place, ...], ...]
    """The places in the document that each path stands for."""
    list: tuple[Case, ...]

    def document_of(self, values: Values) -> OrderDocument:
        """The document of the order with these `values` at the swept places."""
        document = self.document
        for where, value in zip(self.where, values, strict=True):
            document = document.with_value(where, value)
        return document


def cases_of(
    document: OrderDocument, over: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, seeds: Sequence[int] | None,
    samples: int | None, seed: int, measure: str = "", most: int = 10_000_000,
) -> Cases:  # fmt: skip
    """The cases of a sweep over a `document`.

    over: values by path (a grid), or a list of mappings from path to value, one for each case
    seeds: the seeds of every case; None for the order's own
    samples: number of random cases; None for the grid
    seed: of the random samples
    measure: what the results are measured by, as part of the keys
    most: more runs than this are refused
    Raises BunrakuError for paths that lead nowhere, for too many runs or none, and where random ranges and the number of samples do
    not fit.
    """
    if isinstance(over, Mapping):
        axes = {path: axis_of(path, given) for path, given in over.items()}
        paths = tuple(axes)
        grid = math.prod(len(axis) for axis in axes.values() if isinstance(axis, tuple))
        _require_size(grid if samples is None else samples, seeds, most)
        combined = _combined(axes, samples, seed)
    else:
        paths = tuple(dict.fromkeys(path for one in over for path in one))
        _require_size(len(over), seeds, most)
        combined = [tuple(_single(path, one) for path in paths) for one in over]
        if samples is not None:
            raise BunrakuError("samples: the cases are listed one by one\n  advice: give a mapping from paths to ranges")
    for path in paths:
        document = document.opened(path)
    where = tuple(document.places(path) for path in paths)
    base = document.digest(without=tuple(place for places in where for place in places))
    content = [base, code_identity(), measure]
    runs = tuple(
        Case(values, run_seed, _key(content, where, values, run_seed))
        for values in combined
        for run_seed in (seeds if seeds is not None else (None,))
    )
    return Cases(document, paths, where, runs)


@functools.cache
def source_digest(package: Path = Path(bunraku.__file__).parent) -> str:
    """A hash of the Python files of a `package`: who changes a line of a clone must not get the results of the line before."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def code_identity() -> str:
    """What distinguishes this bunraku from others: its version, and a hash of its Python files."""
    return f"{bunraku.__version__} (sources {source_digest()[:12]})"


def _require_size(combined: int, seeds: Sequence[int] | None, most: int) -> None:
    runs = combined * (1 if seeds is None else len(seeds))
    if not 0 < runs <= most:
        what, advice = (
            ("no runs", "give at least one value for every path") if runs == 0 else (f"{runs:,} runs are too many", "give fewer")
        )
        raise BunrakuError(f"{what}\n  advice: {advice}")


def _single(path: str, values: Mapping[str, Any]) -> Node:
    if path not in values:
        raise BunrakuError(f"{path}: a case has no value for it\n  advice: give every case the same paths")
    axis = axis_of(path, [values[path]])
    assert isinstance(axis, tuple)
    return axis[0]


def _combined(axes: Mapping[str, Axis], samples: int | None, seed: int) -> list[Values]:
    """The combinations of a grid, the last path varying fastest; or random samples."""
    drawn = [path for path, axis in axes.items() if isinstance(axis, RandomRange)]
    if samples is None:
        if drawn:
            advice = f"give a number of values, as in {drawn[0]}=1:5:9, or a number of samples"
            raise BunrakuError(f"{drawn[0]}: a range without a number of values\n  advice: {advice}")
        return list(itertools.product(*(axis for axis in axes.values() if isinstance(axis, tuple))))
    if not drawn:
        advice = "give a range such as 1:5, or leave out samples"
        raise BunrakuError(f"{samples} samples, but no path has a range to draw from\n  advice: {advice}")
    return [_sample(axes, np.random.default_rng([seed, k])) for k in range(samples)]


def _sample(axes: Mapping[str, Axis], random: np.random.Generator) -> Values:
    """One random value for each path; more samples of the same seed begin with the same ones."""
    return tuple(
        number_node(axis, float(random.random()), path) if isinstance(axis, RandomRange) else axis[int(random.integers(len(axis)))]
        for path, axis in axes.items()
    )


def _key(content: list[str], where: tuple[tuple[Place, ...], ...], values: Values, seed: int | None) -> str:
    changes = sorted(json.dumps([places, canonical(value)]) for places, value in zip(where, values, strict=True))
    return hashlib.sha256(json.dumps([content, changes, seed]).encode()).hexdigest()[:40]
