"""sweep: many runs of any order, on this machine or a cluster."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CodeType
from typing import Any

from bunraku.arguments import require_common
from bunraku.errors import BunrakuError, BunrakuWarning
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener
from bunraku.sweeps.cases import cases_of
from bunraku.sweeps.crews import Crew, cluster_crew, local_crew
from bunraku.sweeps.dispatcher import Dispatcher, DispatchOptions
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.result_store import ResultStore
from bunraku.sweeps.run_batch import Luggage, Measure
from bunraku.sweeps.sweep_result import ALL_RUN, NONE_OK, Sweep
from bunraku.verbs.order import Order
from bunraku.workers import ClusterSecurity


@dataclass(frozen=True)
class SweepOptions:
    """Numbers that tune a sweep."""

    dispatch: DispatchOptions = DispatchOptions()
    """How runs are handed to workers."""
    most_runs: int = 10_000_000
    """A sweep of more runs is refused."""


def sweep(
    order: str | os.PathLike[str] | Order | Mapping[str, Any], over: Mapping[str, Any] | Sequence[Mapping[str, Any]] = {}, *,
    seeds: int | Sequence[int] | None = None, samples: int | None = None, measure: Measure | None = None, motions: bool = False,
    workers: int | None = None, cluster: str | None = None, security: ClusterSecurity | None = None,
    store: str | os.PathLike[str] | None = None, options: SweepOptions = SweepOptions(), seed: int | None = None,
    progress: Listener | None = None,
) -> Sweep:  # fmt: skip
    """Runs an order many times, with other values and other seeds, in parallel; each result is stored at once.

    A sweep that is repeated, after whatever ended it, takes what is stored and runs only the rest.

    order: a file, the name of an order that comes with bunraku, an order that `bunraku.load` returned, or a mapping with the words
        of a file.
    over: values by path: `{"figure.mass": [0.5, 1, 2], "cost.1.forces": "1e-3:1e-1:5"}`. A path has the words of the file, and
        indices of lists from 0 or names of their entries; `figure.…` leads into the figure; `*` stands for any. All combinations
        are run. Values may be a text as on the command line: "0.5,1,2", "10cm:30cm:5" (five values), "1e-3:1:7:log", "1:5" (random
        samples). Or a list of mappings from path to one value, one for each case.
    seeds: how many seeds each case is run with, or which ones; None for that of the order. Orders that draw no random numbers run
        once.
    samples: number of random cases; ranges without a number of values are drawn from.
    measure: a function that takes each result and returns more numbers by name, for the table.
    motions: whether the motions are stored too.
    workers: number of processes on this machine; None for one per core. For `cluster="local"`: of that cluster.
    cluster: address of a Dask scheduler whose workers do the runs, or "local" to start one here; None uses processes.
    security: certificates, for a cluster whose address begins with tls://.
    store: the folder for the results; None for one in the user's cache folder. Any number of sweeps may share it.
    options: numbers that tune the sweep.
    seed: the first seed, and that of the random samples; by default 0.
    progress: called with the number of finished runs, their rate, and the time left.
    Returns the results. Ctrl-C stops the sweep and returns those that are finished. Raises BunrakuError for paths and values that
    cannot be used, if no cluster answers, or if a cluster is lost and does not come back.
    """
    require_common(seed, progress)
    begun = time.monotonic()
    document = OrderDocument.of(order)
    document.read()  # whose errors are about the order as it is
    cases = cases_of(
        document, over, seeds=_seeds(document, seeds, seed), samples=samples, seed=seed or 0, measure=_named(measure),
        most=options.most_runs,
    )  # fmt: skip
    if any(not cases.document.has(place) for where in cases.where for place in where):
        cases.document_of(cases.list[0].values).read()  # whose errors say whether a new word may be there
    kept = ResultStore.opened(store)
    luggage = Luggage.of(cases, measure=measure, motions=motions, files=cluster not in (None, "local"))
    dispatcher = Dispatcher(cases.list, kept, luggage, motions=motions, progress=progress, options=options.dispatch)
    stopped = False
    try:
        dispatcher.run(_crew(workers, cluster, security, dispatcher.missing))
    except KeyboardInterrupt:
        stopped = True
    used = sum(row["seconds"].get("run", 0.0) for row in dispatcher.rows.values())
    seconds = {"runs": used, "sweep": time.monotonic() - begun}
    return Sweep(_outcome(dispatcher, stopped), cases, dispatcher.rows, kept, dispatcher.found, seconds, seed)


def _crew(
    workers: int | None, cluster: str | None, security: ClusterSecurity | None, runs: int
) -> Callable[[], AbstractContextManager[Crew]]:  # fmt: skip
    if cluster is not None:
        return lambda: cluster_crew(cluster, workers, security)
    if security is not None:
        raise BunrakuError("certificates are for a cluster\n  advice: give its address, which begins with tls://")
    count = workers or os.cpu_count() or 1
    return lambda: local_crew(min(count, max(runs, 1)) if count >= 1 else count)


def _seeds(document: OrderDocument, seeds: int | Sequence[int] | None, first: int | None) -> Sequence[int] | None:
    """The seeds of every case; None for the order's own."""
    if seeds is None:
        return None if first is None else [first]
    chosen = range(first or 0, (first or 0) + seeds) if isinstance(seeds, int) else [int(one) for one in seeds]
    if not len(chosen) or min(chosen) < 0 or max(chosen) >= 2**32:
        raise BunrakuError(f"seeds: {seeds!r}\n  advice: give how many (one or more), or a list of whole numbers from 0 to 2³² − 1")
    if not document.order.random and len(chosen) > 1:
        warnings.warn(
            f"{document.verb} draws no random numbers: every case is run once, not {len(chosen)} times", BunrakuWarning, 3
        )
        return None
    return chosen


def _named(measure: Measure | None) -> str:
    """What a function is called and does, for the keys of its results."""
    if measure is None:
        return ""
    code = getattr(measure, "__code__", None)
    name = f"{getattr(measure, '__module__', '')}.{getattr(measure, '__qualname__', repr(measure))}"
    return name if code is None else f"{name} {hashlib.sha256(_content(code).encode()).hexdigest()}"


def _content(code: CodeType) -> str:
    """What a function does, as text: its instructions, names and constants, without places."""
    inner = [_content(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, inner))


def _outcome(dispatcher: Dispatcher, stopped: bool) -> Outcome:
    rows = dispatcher.rows.values()
    if stopped:
        done = f"{len(rows)} of {dispatcher.total} runs are done and stored"
        return STOPPED.because(done, advice="repeat it: it goes on where it stopped")
    if not any(row["ok"] for row in rows):
        first = next(iter(rows))
        return NONE_OK.because(f"{first['outcome']}: {first['why']}", advice=first["advice"] or None)
    return ALL_RUN
