"""Runs are handed out, stored and counted once each, whatever a crew loses on the way."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError
from bunraku.progress import Progress
from bunraku.sweeps.cases import Case
from bunraku.sweeps.crews import Crew, CrewLost
from bunraku.sweeps.dispatcher import Dispatcher, DispatchOptions
from bunraku.sweeps.result_store import Claims, ResultStore
from bunraku.sweeps.run_batch import Answer, Batch, Finished, Luggage, WorkerMismatch

LUGGAGE = Luggage("name", b"packed")
IMPATIENT = DispatchOptions(poll=0.0, reconnect=0.0)


def cases(count: int) -> list[Case]:
    return [Case((), k, f"{k:012x}" + 28 * "0") for k in range(count)]


def row(case: Case, **more: Any) -> dict[str, Any]:
    told = {"ok": True, "outcome": "done", "why": "", "advice": "", "numbers": {}, "seconds": {"run": 0.01}, "moved": False}
    return {"key": case.key, "seed": case.seed, **told, **more}


class FakeCrew(Crew):
    """Does runs at once; `fate` says for each batch what becomes of it."""

    def __init__(self, store: ResultStore, fate: Any = None, workers: int = 2) -> None:
        super().__init__()
        self.store, self.fate, self.workers = store, fate or (lambda batch: "done"), workers
        self.ran: list[str] = []
        self.batches: list[int] = []
        self.stopped = False

    def size(self) -> int:
        return self.workers

    def send(self, batch: Batch, luggage: Luggage | None) -> None:
        self.batches.append(len(batch.cases))
        match self.fate(batch):
            case "done":
                self._deliveries.put((batch, Answer(tuple(map(self._run, batch.cases)))))
            case "half":  # some are done and stored, then the worker dies
                for case in batch.cases[: len(batch.cases) // 2]:
                    self._run(case)
                self._deliveries.put((batch, RuntimeError("3 workers died")))
            case "dead":
                self._deliveries.put((batch, RuntimeError("3 workers died")))
            case "lost":
                raise CrewLost("gone")
            case "needs":
                if luggage is None:
                    self._deliveries.put((batch, Answer(needs_luggage=True)))
                else:
                    self._deliveries.put((batch, Answer(tuple(map(self._run, batch.cases)))))
            case error:
                self._deliveries.put((batch, error))

    def _run(self, case: Case) -> Finished:
        stored = self.store.row(case.key)
        if stored is None:
            self.ran.append(case.key)
            stored = row(case)
            self.store.keep(stored)
        return Finished(stored, stored=True)

    def stop(self) -> None:
        self.stopped = True


@contextmanager
def same(crew: Crew) -> Iterator[Crew]:
    yield crew


def dispatcher(folder: Path, count: int, **more: Any) -> Dispatcher:
    options = {"luggage": LUGGAGE, "motions": False, "options": IMPATIENT, **more}
    return Dispatcher(cases(count), ResultStore.opened(folder), **options)


def test_all_are_run_and_stored_once(tmp_path: Path) -> None:
    crew = FakeCrew(ResultStore.opened(tmp_path))
    work = dispatcher(tmp_path, 50)
    work.run(lambda: same(crew))
    assert sorted(crew.ran) == sorted(case.key for case in cases(50))
    assert work.missing == 0
    assert max(crew.batches) > 1  # short runs go together
    again = dispatcher(tmp_path, 60)
    assert (again.found, again.missing) == (50, 10)


def test_a_result_that_a_worker_cannot_store_is_stored_here(tmp_path: Path) -> None:
    class Remote(FakeCrew):
        def _run(self, case: Case) -> Finished:
            return Finished(row(case), b"motion")

    work = dispatcher(tmp_path, 5)
    work.run(lambda: same(Remote(work.store)))
    assert [run["seed"] for run in work.store.rows()] == list(range(5))
    assert len(list(tmp_path.glob("*/*.npz"))) == 5


def test_what_is_not_to_be_kept_is_not_stored(tmp_path: Path) -> None:
    class Stopped(FakeCrew):
        def _run(self, case: Case) -> Finished:
            return Finished(row(case, ok=False, outcome="stopped"), keep=False)

    work = dispatcher(tmp_path, 3)
    work.run(lambda: same(Stopped(work.store)))
    assert (work.missing, list(work.store.rows())) == (0, [])


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32), st.floats(0, 0.6))
def test_nothing_is_lost_and_nothing_done_twice(count: int, seed: int, risk: float) -> None:
    """Workers die before, during and between batches, and the whole crew goes away now and then."""
    rng = random.Random(seed)

    def fate(batch: Batch) -> str:
        return rng.choice(("half", "dead", "lost")) if rng.random() < risk and len(batch.cases) > 1 else "done"

    with TemporaryFolder() as folder:
        crew = FakeCrew(ResultStore.opened(folder), fate)
        work = dispatcher(Path(folder), count, options=DispatchOptions(poll=0.0, reconnect=60.0))
        work.run(lambda: same(crew))
        assert sorted(crew.ran) == sorted(case.key for case in cases(count))
        assert all(run["ok"] for run in work.rows.values())


def test_the_run_that_kills_its_workers_is_found(tmp_path: Path) -> None:
    poison = cases(40)[17].key
    crew = FakeCrew(ResultStore.opened(tmp_path), lambda batch: "dead" if any(c.key == poison for c in batch.cases) else "done")
    work = dispatcher(tmp_path, 40)
    work.run(lambda: same(crew))
    assert work.rows[poison]["outcome"] == "crashed"
    assert "workers died" in work.rows[poison]["why"]
    assert sum(run["ok"] for run in work.rows.values()) == 39
    assert work.store.row(poison) is None  # tried again the next time


def test_luggage_is_sent_to_those_who_ask(tmp_path: Path) -> None:
    crew = FakeCrew(ResultStore.opened(tmp_path), lambda batch: "needs")
    work = dispatcher(tmp_path, 3, options=DispatchOptions(poll=0.0, small_luggage=1))
    work.run(lambda: same(crew))
    assert work.missing == 0


def test_a_cluster_that_does_not_come_back(tmp_path: Path) -> None:
    left = [3]

    def fate(_: Batch) -> str:
        left[0] -= 1
        return "done" if left[0] >= 0 else "lost"

    crew = FakeCrew(ResultStore.opened(tmp_path), fate, workers=1)
    work = dispatcher(tmp_path, 10, options=DispatchOptions(poll=0.0, reconnect=-1.0, largest_batch=1, ahead=1))
    with pytest.raises(BunrakuError, match="the cluster is lost") as error:
        work.run(lambda: same(crew))
    assert "3 of 10 runs are stored" in str(error.value)
    assert "repeat the command" in str(error.value)


def test_a_worker_of_another_version_ends_the_sweep(tmp_path: Path) -> None:
    crew = FakeCrew(ResultStore.opened(tmp_path), lambda batch: WorkerMismatch("a worker has bunraku 9"))
    with pytest.raises(WorkerMismatch, match="bunraku 9"):
        dispatcher(tmp_path, 3).run(lambda: same(crew))


def test_an_error_after_a_cluster_was_lost_is_no_lost_cluster(tmp_path: Path) -> None:
    """It came back, with a worker of another version."""
    fates = iter([None, WorkerMismatch("a worker has bunraku 9")])
    crew = FakeCrew(ResultStore.opened(tmp_path), lambda batch: next(fates) or "lost", workers=1)
    patient = DispatchOptions(poll=0.0, reconnect=60.0, ahead=1)
    with pytest.raises(WorkerMismatch, match="bunraku 9"):
        dispatcher(tmp_path, 3, options=patient).run(lambda: same(crew))


def test_what_another_sweep_does_is_left_to_it(tmp_path: Path) -> None:
    """Its result is taken when it is stored; what it gives up is run here."""
    store = ResultStore.opened(tmp_path)
    other, mine = Claims(store), cases(6)
    done, dropped = mine[2], mine[4]
    assert other.take(done.key)
    assert other.take(dropped.key)
    asked = [0]

    class Crew2(FakeCrew):
        def next(self, seconds: float) -> Any:
            asked[0] += 1
            if asked[0] == 20:
                store.keep(row(done))
                other.release(dropped.key)
            return super().next(seconds)

    crew = Crew2(store)
    work = dispatcher(tmp_path, 6)
    work.run(lambda: same(crew))
    assert done.key not in crew.ran
    assert dropped.key in crew.ran
    assert len(work.rows) == 6
    other.release_all()


def test_progress_tells_count_rate_and_time_left(tmp_path: Path) -> None:
    told: list[Progress] = []
    work = dispatcher(tmp_path, 30, progress=told.append)
    work.run(lambda: same(FakeCrew(work.store)))
    assert told[0].text == "0 of 30"
    assert told[-1].done == 1.0
    assert any("/s, " in word.text and word.text.endswith("left") for word in told)
    assert all(a.done <= b.done for a, b in itertools.pairwise(told))


def test_ctrl_c_goes_on_to_the_caller_and_frees_the_claims(tmp_path: Path) -> None:
    class Interrupted(FakeCrew):
        def next(self, seconds: float) -> Any:
            raise KeyboardInterrupt

    work = dispatcher(tmp_path, 5)
    with pytest.raises(KeyboardInterrupt):
        work.run(lambda: same(Interrupted(work.store, lambda batch: "silent")))
    claims = Claims(work.store)
    assert all(claims.take(case.key) for case in cases(5))
    claims.release_all()
