"""Sweeps on a real Dask cluster: scheduler and workers are processes on loopback, and are killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bunraku
from bunraku.errors import BunrakuError
from bunraku.sweeps import ResultStore, Sweep, SweepOptions
from bunraku.sweeps.dispatcher import DispatchOptions
from bunraku.workers import ClusterSecurity
from tests.dask_processes import Cluster, cluster
from tests.patience import until

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals")]

SWING = {"simulate": "pendulum", "duration": "2 s", "start": {"angle": "40 deg"}}
OVER = {"dt": "1ms:2ms:60"}


def stored(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/*.json")}


def without_times(found: Sweep) -> dict[str, list[Any]]:
    return {name: column for name, column in found.table.items() if not name.startswith("seconds")}


def meanwhile(work: Callable[[], Any]) -> Callable[[], Any]:
    """Starts `work` in a thread; the function that is returned waits for its result, or raises its error."""
    out: list[Any] = []

    def run() -> None:
        try:
            out.append(work())
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            out.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def wait() -> Any:
        thread.join()
        if isinstance(out[0], BaseException):
            raise out[0]
        return out[0]

    return wait


def test_a_killed_worker_and_a_killed_scheduler(tmp_path: Path) -> None:
    """Nothing that is stored is done again, and the table is that of a sweep on this machine."""
    store = tmp_path / "store"
    with cluster(tmp_path, 2) as dask:
        wait = meanwhile(lambda: bunraku.sweep(SWING, OVER, store=store, cluster=dask.address))
        until(lambda: len(stored(store)) >= 8)
        dask.kill(dask.workers[0])
        dask.start_worker()
        until(lambda: len(stored(store)) >= 20)
        dask.kill(dask.scheduler)
        kept = stored(store)
        for worker in dask.workers:
            if worker.poll() is None:
                dask.kill(worker)
        dask.start_scheduler()
        dask.start_worker()
        found = wait()
    assert all(stored(store)[path] == time for path, time in kept.items())
    assert found.table["ok"] == [True] * 60
    here = bunraku.sweep(SWING, OVER, store=tmp_path / "other", workers=2)
    assert without_times(here) == without_times(found)


def test_a_scheduler_that_stays_away(tmp_path: Path) -> None:
    store = tmp_path / "store"
    options = SweepOptions(dispatch=DispatchOptions(reconnect=1.0))
    with cluster(tmp_path, 1) as dask:
        wait = meanwhile(lambda: bunraku.sweep(SWING, OVER, store=store, cluster=dask.address, options=options))
        until(lambda: len(stored(store)) >= 3)
        dask.kill(dask.scheduler)
        with pytest.raises(BunrakuError, match="the cluster is lost") as error:
            wait()
    assert "of 60 runs are stored" in str(error.value)
    assert "repeat the command" in str(error.value)


def test_workers_that_do_not_see_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They send results and motions back; files that the order names are sent to them."""
    (tmp_path / "swing.yaml").write_text("simulate: parts/puppet.yaml\nduration: 50 ms\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "puppet.yaml").write_text(
        "figure: puppet\nframes: [{rx: a, start: 0.3, bodies: [{mass: 1, com: [0, 0, -1]}]}]\n"
    )
    over = {"dt": "1ms:2ms:4"}
    monkeypatch.setattr(ResultStore, "label", property(lambda _: "another folder"))  # here, not in the workers
    with cluster(tmp_path, 1) as dask:
        found = bunraku.sweep(tmp_path / "swing.yaml", over, store=tmp_path / "store", cluster=dask.address, motions=True)
    monkeypatch.undo()
    here = bunraku.sweep(tmp_path / "swing.yaml", over, store=tmp_path / "other", workers=1, motions=True)
    assert without_times(found) == without_times(here)
    assert [len(found.motion_of(k)) for k in range(4)] == [len(here.motion_of(k)) for k in range(4)]


# -- TLS -------------------------------------------------------------------------------------------------------------


def authority(folder: Path, name: str) -> tuple[str, str, str]:
    """An authority, and a certificate of it with its key: three PEM files."""
    ca, key = folder / f"{name}-ca.pem", folder / f"{name}-ca.key"
    own, own_key, asked = folder / f"{name}.pem", folder / f"{name}.key", folder / f"{name}.csr"
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes"]
    run = lambda *words: subprocess.run(words, check=True, capture_output=True)  # noqa: E731
    run(*new, "-x509", "-days", "2", "-subj", f"/CN={name} authority", "-keyout", str(key), "-out", str(ca))
    run(*new, "-subj", f"/CN={name}", "-keyout", str(own_key), "-out", str(asked))
    run(
        "openssl",
        "x509",
        "-req",
        "-in",
        str(asked),
        "-CA",
        str(ca),
        "-CAkey",
        str(key),
        "-CAcreateserial",
        "-days",
        "2",
        "-out",
        str(own),
    )
    return str(ca), str(own), str(own_key)


def options_of(files: tuple[str, str, str]) -> tuple[str, ...]:
    return ("--tls-ca-file", files[0], "--tls-cert", files[1], "--tls-key", files[2])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_a_foreign_certificate_is_refused(tmp_path: Path) -> None:
    ours, foreign = authority(tmp_path, "ours"), authority(tmp_path, "foreign")
    security = ClusterSecurity(*map(Path, ours))
    with cluster(tmp_path, 0, protocol="tls", options=options_of(ours)) as dask:
        stranger = dask.start_worker(*options_of(foreign), "--death-timeout", "5")
        until(lambda: stranger.poll() is not None)  # it was refused, and gave up
        assert stranger.returncode != 0
        assert "unknown ca" in dask.log.read_text()  # of the handshake
        with pytest.raises(BunrakuError, match="no cluster answers"):
            _swept(dask, tmp_path, ClusterSecurity(*map(Path, foreign)))
        dask.start_worker()
        found = _swept(dask, tmp_path, security)
        assert found.table["ok"] == [True] * 4
        with pytest.raises(BunrakuError, match="begin the address with tls"):
            bunraku.sweep(SWING, {"dt": [0.003]}, store=tmp_path / "store", cluster="tcp://127.0.0.1:9", security=security)


def _swept(dask: Cluster, folder: Path, security: ClusterSecurity) -> Sweep:
    import dask as library

    with library.config.set({"distributed.comm.timeouts.connect": "5s"}):
        return bunraku.sweep(SWING, {"dt": "1ms:2ms:4"}, store=folder / "store", cluster=dask.address, security=security)
