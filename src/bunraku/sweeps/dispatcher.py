"""Dispatcher: hands the runs of a sweep to a crew, stores what comes back, and survives what a crew can lose."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from bunraku.errors import BunrakuError
from bunraku.progress import Listener, Progress
from bunraku.sweeps.cases import Case
from bunraku.sweeps.crews import Crew, CrewLost, Delivery
from bunraku.sweeps.result_store import Claims, ResultStore, Row
from bunraku.sweeps.run_batch import Answer, Batch, Finished, Luggage, WorkerMismatch, failed_row
from bunraku.sweeps.run_rate import Pace


@dataclass(frozen=True)
class DispatchOptions:
    """Numbers that tune how runs are handed out."""

    batch_seconds: float = 2.0
    """Short runs are sent together, so many that they take about this long [s]."""
    batch_seconds_per_worker: float = 0.01
    """And longer by this for each worker [s]: the scheduler and this process handle one batch after the other (docs/sweeps.md)."""
    largest_batch: int = 1000
    """Runs in a batch, at most."""
    ahead: int = 2
    """Batches that each worker has, the one it works on included."""
    small_luggage: int = 20_000
    """Luggage of up to this size is sent with every batch; larger only to workers that ask for it [bytes]."""
    reconnect: float = 60.0
    """How long a cluster that does not answer is waited for [s]."""
    retell: float = 2.0
    """How often the remaining time is told while no run ends [s]."""
    poll: float = 0.2
    """How often the crew is looked after while nothing comes back [s]."""


class Dispatcher:
    """The state of a sweep under way: which runs wait, which are with the crew, which are done.

    cases: all runs; what is in the `store` already is not run.
    store: where results go.
    luggage: what the workers need for the runs.
    motions: whether the motions must be stored too.
    progress: called with count, rate and remaining time.
    options: numbers that tune it.
    """

    def __init__(
        self, cases: Iterable[Case], store: ResultStore, luggage: Luggage, *, motions: bool, progress: Listener | None = None,
        options: DispatchOptions = DispatchOptions(),
    ) -> None:  # fmt: skip
        self.store, self.luggage, self.motions, self.progress, self.options = store, luggage, motions, progress, options
        unique = {case.key: case for case in cases}
        self.total = len(unique)
        self.rows: dict[str, Row] = {}
        """Finished runs by key."""
        self.found = 0
        """How many of them were in the store already."""
        self._claims, self._mark = Claims(store), store.label
        store.tidy(self._claims)
        self._claims.release_all()
        self._recent: deque[float] = deque(maxlen=21)
        """How long the last runs took [s]."""
        self._ran, self._failed, self._word, self._told, self._done_told = 0, 0, "", 0.0, -1
        self._waiting = deque(case for case in unique.values() if not self._take_stored(case))
        self._elsewhere: deque[Case] = deque()
        """Runs that another sweep on the same store does at the moment."""
        self._out: dict[int, Batch] = {}
        """Batches with the crew, by identity."""
        self._pace = Pace()
        self._tell()

    def _take_stored(self, case: Case) -> bool:
        row = self.store.row(case.key, motion=self.motions)
        if row is not None:
            self.rows[case.key] = row
            self.found += 1
            self._failed += not row["ok"]
        return row is not None

    @property
    def missing(self) -> int:
        """How many runs are not done."""
        return self.total - len(self.rows)

    def run(self, crew: Callable[[], AbstractContextManager[Crew]]) -> None:
        """Hands out all runs to the crew that `crew` opens; opens it again if it is lost.

        Raises BunrakuError if a lost crew does not come back, if a worker has another version of bunraku, and if a result cannot be
        stored. Ctrl-C ends the runs under way and goes on to the caller.
        """
        lost_at: float | None = None
        while self.missing:
            before = len(self.rows)
            try:
                with ExitStack() as stack:
                    try:
                        opened = stack.enter_context(crew())
                    except BunrakuError:
                        if lost_at is None:  # it never answered
                            raise
                        self._wait_for_crew("no answer", lost_at)
                        continue
                    self._serve(opened)
            except CrewLost as lost:
                lost_at = time.monotonic() if lost_at is None or len(self.rows) > before else lost_at
                self._recall()
                self._wait_for_crew(str(lost), lost_at)
            except KeyboardInterrupt:
                self.store.tidy(self._claims)  # workers were killed, perhaps while they wrote
                raise
            finally:
                self._claims.release_all()

    def _wait_for_crew(self, why: str, since: float) -> None:
        if time.monotonic() - since > self.options.reconnect:
            done = f"{len(self.rows)} of {self.total} runs are stored"
            advice = "start the cluster again, then repeat the command: it goes on where it stopped"
            raise BunrakuError(f"the cluster is lost ({why}); {done}\n  advice: {advice}")
        self._tell(f"the cluster does not answer; waiting ({why})")
        time.sleep(self.options.poll)

    def _recall(self) -> None:
        """Puts the runs that a lost crew had back in front."""
        for batch in self._out.values():
            self._waiting.extendleft(reversed(batch.cases))
        self._out.clear()

    def _serve(self, crew: Crew) -> None:
        while self._waiting or self._out or self._elsewhere:
            size = crew.size()
            while self._waiting and len(self._out) < self.options.ahead * size:
                if (batch := self._next_batch(size)) is not None:
                    self._send(crew, batch, luggage=len(self.luggage.packed) <= self.options.small_luggage)
            if not self._out and self._elsewhere:
                self._look_elsewhere()
            delivery = crew.next(self.options.poll)
            while delivery is not None:
                self._receive(crew, delivery)
                delivery = crew.next(0.0)
            self._tell("waiting for workers to join the cluster" if size == 0 else "")

    def _send(self, crew: Crew, batch: Batch, *, luggage: bool) -> None:
        self._out[id(batch)] = batch
        crew.send(batch, self.luggage if luggage else None)

    # -- handing out ---------------------------------------------------------------------------------------------

    def _next_batch(self, workers: int) -> Batch | None:
        """As many waiting runs as fit in a batch and are not done elsewhere; None if there are none."""
        long = max(self.options.batch_seconds, self.options.batch_seconds_per_worker * workers)
        usual = statistics.median(self._recent) if self._recent else long
        fitting = int(long / max(usual, 1e-6))
        share = -(-len(self._waiting) // (self.options.ahead * max(workers, 1)))  # at the end, all workers get some
        count = max(1, min(fitting, self.options.largest_batch, share))
        taken: list[Case] = []
        while self._waiting and len(taken) < count:
            case = self._waiting.popleft()
            if self._claims.take(case.key):
                taken.append(case)
            else:
                self._elsewhere.append(case)
        return Batch(tuple(taken), self.luggage.name, self.store.folder, self._mark) if taken else None

    def _look_elsewhere(self) -> None:
        """Takes over what another sweep has stored meanwhile, or has given up."""
        for case in [self._elsewhere.popleft() for _ in range(len(self._elsewhere))]:
            if self._claims.take(case.key):
                if self._take_stored(case):
                    self._claims.release(case.key)
                else:
                    self._waiting.append(case)
            elif not self._take_stored(case):
                self._elsewhere.append(case)

    # -- taking in -----------------------------------------------------------------------------------------------

    def _receive(self, crew: Crew, delivery: Delivery) -> None:
        batch, answer = delivery
        if self._out.pop(id(batch), None) is None:
            return  # of a crew that was lost
        if isinstance(answer, Answer) and answer.needs_luggage:
            self._send(crew, batch, luggage=True)
            return
        if isinstance(answer, WorkerMismatch):
            raise answer
        if isinstance(answer, Answer):
            for run in answer.runs:
                self._keep(run)
        elif len(batch.cases) > 1:  # one of them may have killed its worker: each for itself
            for case in batch.cases:
                self._send(crew, Batch((case,), batch.luggage, batch.store, batch.mark), luggage=True)
            return
        else:
            why = " ".join(str(answer).partition("\n  advice: ")[0].split()) or type(answer).__name__
            row = failed_row(batch.cases[0], "crashed", why, "run it alone to see why")
            self._keep(Finished(row, keep=False))
        for case in batch.cases:
            self._claims.release(case.key)
            if case.key not in self.rows:  # stopped before its turn
                self._waiting.append(case)
        self._pace.note(self._ran)

    def _keep(self, run: Finished) -> None:
        if run.keep and not run.stored:
            self.store.keep(run.row, run.motion)
        self.rows[run.row["key"]] = run.row
        self._ran += 1
        self._failed += not run.row["ok"]
        self._recent.append(run.row["seconds"].get("run", 0.0))

    def _tell(self, word: str = "") -> None:
        if self.progress is None:
            return
        done = len(self.rows)
        text = f"{done} of {self.total}"
        if word:
            text += f"; {word}"
        elif self._ran:
            text += f", {self._pace.rate:.3g}/s, {self._pace.left(self.missing)} left"
        text += f"; {self._failed} not ok" if self._failed else ""
        waited = time.monotonic() - self._told
        if text != self._word and (waited > self.options.retell or word or done != self._done_told):
            self._word, self._told, self._done_told = text, time.monotonic(), done
            self.progress(Progress("runs", done / max(self.total, 1), text))
