"""Executors: a killed worker loses no work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bunraku.errors import BunrakuError
from bunraku.workers import FileFlag, Pool, executor
from bunraku.workers.blas_threads import blases, one_blas_thread
from tests.patience import PATIENCE, until


def _square(x: int) -> int:
    return x * x


def _fail(_: int) -> int:
    raise ValueError("seven")


def _dies_once(path: str) -> int:
    """Takes its worker with it the first time."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 42


def _always_dies(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def _sleeps(begun: str) -> None:
    Path(begun).touch()
    time.sleep(PATIENCE)


def _interrupts_itself(x: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    return x


def _waits(path: str) -> str:
    flag, start = FileFlag(path), time.monotonic()
    while not flag.is_set() and time.monotonic() - start < PATIENCE:
        time.sleep(0.01)
    return "saw it" if flag.is_set() else "waited in vain"


def test_results_errors_and_killed_workers(tmp_path: Path) -> None:
    with executor(2) as (pool, flag):
        assert list(pool.map(_square, range(20))) == [k * k for k in range(20)]
        with pytest.raises(ValueError, match="seven"):
            pool.submit(_fail, 1).result()
        squares = [pool.submit(_square, k) for k in range(20)]
        lost = pool.submit(_dies_once, str(tmp_path / "once"))
        squares += [pool.submit(_square, k) for k in range(20, 40)]
        assert lost.result(timeout=PATIENCE) == 42
        assert [job.result(timeout=PATIENCE) for job in squares] == [k * k for k in range(40)]
        with pytest.raises(BunrakuError, match="workers died"):
            pool.submit(_always_dies, 0).result(timeout=PATIENCE)
        assert isinstance(flag, FileFlag)
        waiting = pool.submit(_waits, flag.path)
        flag.set()
        assert waiting.result(timeout=PATIENCE) == "saw it"


def test_killed_at_once(tmp_path: Path) -> None:
    """Jobs that run or wait are cancelled; new ones are done."""
    with Pool(1) as pool:
        begun = tmp_path / "begun"
        jobs = [pool.submit(_sleeps, str(begun)), pool.submit(_square, 3)]
        until(begun.exists)
        (pid,) = pool.pids
        pool.kill()
        until(lambda: all(job.cancelled() for job in jobs))
        until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text())
        assert pool.submit(_square, 4).result(PATIENCE) == 16


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_is_not_for_workers(tmp_path: Path) -> None:
    with Pool(1) as pool:
        job = pool.submit(_interrupts_itself, 5)
        assert job.result(PATIENCE) == 5


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals here")
def test_workers_never_hear_ctrl_c(tmp_path: Path) -> None:
    """Not while Python itself starts either: what a worker blocks is written down before its first import of ours."""
    watch = "import os, signal; open(os.environ['HEARD'], 'a').write(repr(signal.pthread_sigmask(0, []) >= {signal.SIGINT}) + ' ')"
    (tmp_path / "sitecustomize.py").write_text(watch)
    script = "from bunraku.workers import Pool\nwith Pool(2) as pool:\n    print(list(pool.map(abs, [-1, 2, -3])))"
    own = {"HEARD": str(tmp_path / "heard"), "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | own, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 2, 3]"
    program, *others = (tmp_path / "heard").read_text().split()
    assert program == "False"
    assert len(others) >= 2
    assert set(others) == {"True"}


def test_pool_wants_a_worker() -> None:
    with pytest.raises(BunrakuError, match="0 workers"):
        Pool(0)


def test_no_cluster_answers() -> None:
    pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "300ms"}),
        pytest.raises(BunrakuError, match="no cluster answers"),
        executor(cluster="tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.slow
def test_a_local_cluster() -> None:
    pytest.importorskip("distributed")
    with executor(2, cluster="local") as (pool, flag):
        assert list(pool.map(_square, range(5))) == [0, 1, 4, 9, 16]
        assert not flag.is_set()
        flag.set()
        assert flag.is_set()


SCRIPT = """
from bunraku.workers import Pool

def own(x):
    return x + 1

{guard}
    with Pool(1) as pool:
        print(pool.submit(abs, -3).result(), {call})
"""


@pytest.mark.parametrize(
    ("guard", "call"),
    [("if True:", "pool.submit(divmod, 7, 2).result()"), ('if __name__ == "__main__":', "pool.submit(own, 7).result()")],
)
def test_scripts(guard: str, call: str, tmp_path: Path) -> None:
    """A script needs no guard, unless workers need its own functions."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard=guard, call=call))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1)[0] == "3"
    assert done.stdout.strip() in ("3 (3, 1)", "3 8")


def test_a_blas_has_one_thread_within_and_as_many_as_before_after_the_last() -> None:
    if not blases():
        pytest.skip("numpy and scipy bring no OpenBLAS here")
    first = [blas.threads() for blas in blases()]
    try:
        for blas in blases():
            blas.set_threads(2)
        with one_blas_thread():
            assert [blas.threads() for blas in blases()] == [1] * len(blases())
            with pytest.raises(KeyError), one_blas_thread():
                raise KeyError
            assert [blas.threads() for blas in blases()] == [1] * len(blases())
        assert [blas.threads() for blas in blases()] == [2] * len(blases())
    finally:
        for blas, threads in zip(blases(), first, strict=True):
            blas.set_threads(threads)
