"""A Dask cluster as an executor."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError, FileError, MissingExtra
from bunraku.workers.flags import ClusterFlag

_ADVICE = "give the address of its scheduler, such as tcp://10.0.0.5:8786, or `local`"


@dataclass(frozen=True)
class ClusterSecurity:
    """Certificates for a cluster whose address begins with tls://, as PEM files; Dask's own names for them.

    Without them, Dask takes what its configuration says (the keys `distributed.comm.tls`).
    """

    tls_ca_file: Path
    """The certificate of the authority that signed all others; whoever has none of it is refused."""
    tls_cert: Path
    """The certificate of this process."""
    tls_key: Path
    """The private key of that certificate."""

    def __post_init__(self) -> None:
        for path in (self.tls_ca_file, self.tls_cert, self.tls_key):
            if not path.is_file():
                raise FileError("is not a file", path=str(path), advice="give a certificate or key in PEM format")

    def of_dask(self) -> Any:
        """The same as an object of Dask."""
        from distributed import Security

        files = {"tls_ca_file": str(self.tls_ca_file), "tls_client_cert": str(self.tls_cert), "tls_client_key": str(self.tls_key)}
        return Security(require_encryption=True, **files)


@contextmanager
def connection(
    address: str, workers: int | None = None, security: ClusterSecurity | None = None
) -> Iterator[tuple[Any, ClusterFlag]]:
    """Dask's client of a cluster, and a flag that its workers see; the flag is raised when the block ends.

    address: of the scheduler, or "local" to start a cluster here with that many `workers` (None: one for each core).
    security: certificates, for an address that begins with tls://.
    Raises BunrakuError where no cluster answers, MissingExtra where Dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster", "a cluster") from None
    if security is not None and not address.startswith("tls://"):
        raise BunrakuError(
            f"certificates are for an encrypted cluster, not for {address!r}\n  advice: begin the address with tls://"
        )
    options = {} if security is None else {"security": security.of_dask()}
    try:
        if address == "local":
            client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        else:
            client = Client(address, **options)
    except Exception as error:  # noqa: BLE001 (no answer, a malformed address, wrong certificates: each has a class of its own)
        why = " ".join(str(error).split()) or type(error).__name__
        raise BunrakuError(f"no cluster answers at {address!r}: {why}\n  advice: {_ADVICE}") from None
    flag = ClusterFlag(f"bunraku-{os.getpid()}-{secrets.token_hex(4)}")
    with _silent():
        try:
            yield client, flag
        finally:
            if client.status == "running":  # a scheduler that is gone would be waited for
                with contextlib.suppress(Exception):
                    flag.set()
            client.close(timeout=2)


@contextmanager
def _silent() -> Iterator[None]:
    """Dask's own messages about a lost cluster are not printed: who uses it says what happened."""
    logs = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict) if name.partition(".")[0] == "distributed"]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


@contextmanager
def connected(address: str, workers: int | None, security: ClusterSecurity | None = None) -> Iterator[tuple[Executor, ClusterFlag]]:
    """The executor of a cluster and a flag that its workers see; the flag is raised when the block ends.

    address, workers, security: as for `connection`, with the same errors.
    """
    with connection(address, workers, security) as (client, flag):
        yield client.get_executor(pure=False), flag
