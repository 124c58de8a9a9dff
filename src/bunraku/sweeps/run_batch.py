"""What a worker of a sweep does: reads the order with the values of each case, runs it, measures the result, stores it."""

from __future__ import annotations

import hashlib
import math
import pickle
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bunraku
from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError, FileError, MissingExtra, parts
from bunraku.io.tables.npz_file import save_npz
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.motion.motion_columns import motion_columns
from bunraku.progress import Progress
from bunraku.sweeps.cases import Case, Cases, code_identity
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.result_store import ResultStore, Row
from bunraku.verbs.order import Made, Order, outcome_of
from bunraku.workers import Flag

Measure = Callable[[Any], Mapping[str, Any]]
"""Takes the result of a run and returns numbers by name."""


@dataclass(frozen=True, eq=False)
class Luggage:
    """All that the runs of a sweep have in common, packed once; workers keep it, and ask for it if they do not have it."""

    name: str
    """A hash of the content."""
    packed: bytes = field(repr=False)
    code: str = field(default_factory=code_identity)
    """Version and sources of bunraku: other ones may not be able to unpack it, or give other results."""
    module: str = ""
    """Where `measure` is defined: worker processes import the script that runs only if it is defined there."""

    @classmethod
    def of(cls, cases: Cases, *, measure: Measure | None, motions: bool, files: bool) -> Luggage:
        """What the runs of these `cases` need.

        measure: more numbers of each result
        motions: whether motions are kept
        files: whether the files that the order names are packed too, for other machines
        Raises BunrakuError if `measure` cannot be sent to another process.
        """
        found = cases.document.files() if files else {}
        if files and getattr(measure, "__module__", "") == "__main__":
            advice = "define it in a module that the workers can import"
            raise BunrakuError(f"measure is defined in the script that runs, which the workers do not have\n  advice: {advice}")
        bare = replace(cases, list=())
        try:
            packed = zlib.compress(pickle.dumps((bare, found, measure, motions)))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            advice = "define it with `def` in a module, not inside a function, and not as a lambda"
            raise BunrakuError(f"measure cannot be sent to workers: {error}\n  advice: {advice}") from None
        return cls(hashlib.sha256(packed).hexdigest()[:20], packed, module=getattr(measure, "__module__", ""))


@dataclass(frozen=True)
class Batch:
    """Some runs that one worker does, one after the other."""

    cases: tuple[Case, ...]
    luggage: str
    """Name of the luggage."""
    store: Path
    mark: str
    """Content of the store's label: a worker that reads the same there sees the same folder, and stores results itself."""


@dataclass(frozen=True)
class Finished:
    """A run that is over."""

    row: Row
    motion: bytes | None = None
    """Its motion, if motions are kept."""
    keep: bool = True
    """Whether it is to be stored; a run that was stopped, or met a defect, is tried again the next time."""
    stored: bool = False
    """Whether the worker has stored it."""


@dataclass(frozen=True)
class Answer:
    """What a worker returns."""

    runs: tuple[Finished, ...] = ()
    needs_luggage: bool = False


class WorkerMismatch(BunrakuError):
    """A worker has another version of bunraku than the process that sweeps."""


class _Unpacked:
    """The luggage of the last sweep, ready to use."""

    name = ""
    cases: Cases
    measure: Measure | None
    motions: bool
    orders: dict[str, Order]
    folder: TemporaryFolder | None = None
    turn = threading.Lock()
    """Workers of a cluster may have several threads; budgets and times count the processor time of the whole process."""


def run_batch(batch: Batch, luggage: Luggage | None, flag: Flag | None = None) -> Answer:
    """Runs a `batch`; `luggage` is None if the worker should have it already. A raised `flag` stops the runs."""
    with _Unpacked.turn:
        if _Unpacked.name != batch.luggage:
            if luggage is None:
                return Answer(needs_luggage=True)
            _unpack(luggage)
        store = ResultStore(batch.store)
        shared = store if store.label == batch.mark else None
        stop = None if flag is None else _Stop(flag)
        return Answer(tuple(_finished(case, shared, stop) for case in batch.cases if stop is None or not stop.wanted()))


def _finished(case: Case, store: ResultStore | None, stop: _Stop | None) -> Finished:
    """A case, run, unless its result is in the `store` already; stored there, if there is one."""
    row = None if store is None else store.row(case.key, motion=_Unpacked.motions)
    if row is not None:
        return Finished(row, stored=True)
    done = _run(case, stop)
    if store is None or not done.keep:
        return done
    try:
        store.keep(done.row, done.motion)
    except FileError:  # the process that sweeps tries to store it, and says why that fails
        return done
    return Finished(done.row, stored=True)


def _unpack(luggage: Luggage) -> None:
    if luggage.code != code_identity():
        advice = "install the same version everywhere, and do not change it during a sweep"
        raise WorkerMismatch(f"a worker has bunraku {code_identity()}, not {luggage.code}\n  advice: {advice}")
    cases, files, measure, motions = pickle.loads(zlib.decompress(luggage.packed))
    if _Unpacked.folder is not None:
        _Unpacked.folder.cleanup()
        _Unpacked.folder = None
    if files:
        cases = replace(cases, document=_with_files(cases.document, files))
    _Unpacked.name, _Unpacked.cases, _Unpacked.measure, _Unpacked.motions = luggage.name, cases, measure, motions
    _Unpacked.orders = {}


def _with_files(document: OrderDocument, files: Mapping[Path, bytes]) -> OrderDocument:
    """The document in a temporary folder that holds its files, in the same places relative to each other."""
    _Unpacked.folder = TemporaryFolder()
    base = Path(_Unpacked.folder.name)
    for path, data in files.items():
        target = base.joinpath(*path.parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    folder = base.joinpath(*document.folder.parts[1:])
    folder.mkdir(parents=True, exist_ok=True)
    return replace(document, folder=folder)


# -- one run ---------------------------------------------------------------------------------------------------------


def _run(case: Case, stop: _Stop | None) -> Finished:
    """A case, run and measured, with its motion if motions are kept."""
    begun, motion = worked(), None
    try:
        done = _order(case).run(seed=case.seed, progress=stop)
        row, keep = _measured(case, done)
        motion = _packed_motion(done) if _Unpacked.motions else None
    except Exception as error:  # noqa: BLE001 (of the order or of `measure`; the other runs go on)
        row, keep = _failed(case, error)
    row["seconds"]["run"] = worked() - begun
    return Finished(row, motion, keep)


def _order(case: Case) -> Order:
    """The order with the values of a case; the last few are kept, since seeds share them."""
    name = repr([(value.value, value.plain) for value in case.values])
    if name not in _Unpacked.orders:
        while len(_Unpacked.orders) >= 4:
            _Unpacked.orders.pop(next(iter(_Unpacked.orders)))
        _Unpacked.orders[name] = _Unpacked.cases.document_of(case.values).read()
    return _Unpacked.orders[name]


class _Stop:
    """Whether the runs of a batch should stop; it listens to their progress, and stops them.

    The flag is asked once a second: on a cluster, the scheduler must answer every time. Batches that have not begun are cancelled.
    """

    def __init__(self, flag: Flag) -> None:
        self.flag, self.asked, self.raised = flag, time.monotonic(), False

    def wanted(self) -> bool:
        if not self.raised and time.monotonic() - self.asked > 1.0:
            self.raised, self.asked = self.flag.is_set(), time.monotonic()
        return self.raised

    def __call__(self, _: Progress) -> None:
        if self.wanted():
            raise KeyboardInterrupt


def _measured(case: Case, done: Made) -> tuple[Row, bool]:
    """The row of a result, and whether it is to be stored."""
    outcome = outcome_of(done)
    numbers: dict[str, Any] = dict(motion_columns(done) if isinstance(done, Motion) else done.columns())
    if _Unpacked.measure is not None:
        numbers |= _Unpacked.measure(done)
    plain = {name: value for name, given in numbers.items() if (value := _plain(given)) is not None}
    seconds = {} if isinstance(done, Motion) else {stage: float(taken) for stage, taken in done.seconds.items()}
    seed = case.seed if case.seed is not None or isinstance(done, Motion) else done.seed
    told = {"ok": outcome.ok, "outcome": outcome.kind, "why": outcome.why, "advice": outcome.advice}
    moved = isinstance(done, Motion) or done.motion is not None
    row = {"key": case.key, "seed": seed, **told, "numbers": plain, "seconds": seconds, "moved": moved}
    return {**row, "bunraku": bunraku.__version__}, outcome.kind != "stopped"


def _failed(case: Case, error: Exception) -> tuple[Row, bool]:
    """The row of a run that raised an error. What is wrong with the order stays wrong; any other error may not come again."""
    message, advice = parts(error) if isinstance(error, BunrakuError) else (f"{type(error).__name__}: {error}", "")
    if not isinstance(error, BunrakuError):
        place = traceback.extract_tb(error.__traceback__)[-1]
        message += f" ({Path(place.filename).name}, line {place.lineno})"
    keep = isinstance(error, BunrakuError) and not isinstance(error, MissingExtra)
    return failed_row(case, "error", message, advice), keep


def failed_row(case: Case, kind: str, why: str, advice: str) -> Row:
    """The row of a `case` that has no result: the `kind` of its outcome, `why`, and `advice`."""
    told = {"ok": False, "outcome": kind, "why": why, "advice": advice, "numbers": {}, "seconds": {}, "moved": False}
    return {"key": case.key, "seed": case.seed, **told, "bunraku": bunraku.__version__}


def _plain(value: Any) -> Any:
    """A number, text or truth value that JSON can hold; None for numbers that are not finite, which leave an empty cell."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | bool) else str(value)


def _packed_motion(done: Made) -> bytes | None:
    motion = done if isinstance(done, Motion) else done.motion
    if motion is None:
        return None
    with TemporaryFolder() as folder:
        file = Path(folder) / "motion.npz"
        try:
            save_npz(motion, file)
        except FileError as error:
            raise BunrakuError(f"the motion cannot be stored: {error}") from None
        return file.read_bytes()
