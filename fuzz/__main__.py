"""python -m fuzz [--seconds N] [TARGET …]: fuzzes every target for N seconds of processor time (60 by default).

The exit status is 1 if it finds something.

Each target runs in a process of its own. What it finds is kept in fuzz/finds/TARGET-*, and printed with its traceback.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from fuzz.targets import FOLDER, ROOT, TARGETS, seeds


def main() -> int:
    """Runs the targets one after the other, or, with --one, a single one in this process."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--one", action="store_true")
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    if given.one:
        _one(names[0], given.seconds)
        return 0
    failed = []
    for name in names:
        print(f"-- {name}, {given.seconds} s", flush=True)
        command = [sys.executable, "-m", "fuzz", "--one", "--seconds", str(given.seconds), name]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(name)
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"finds: {', '.join(failed) or 'none'}")
    return int(bool(failed))


def _one(name: str, seconds: int) -> None:
    import atheris

    with atheris.instrument_imports(include=["bunraku"], exclude=_with_kernels()):
        import bunraku.stage.uploads
        import bunraku.verbs.loading  # noqa: F401
    corpus, finds = FOLDER / "corpus", Path(__file__).parent / "finds"
    corpus.mkdir(exist_ok=True)
    finds.mkdir(exist_ok=True)
    TARGETS[name](b"")
    for k, seed in enumerate(seeds(name)):
        (corpus / f"seed{k}").write_bytes(seed)
        TARGETS[name](seed)  # compiles and imports before the clock of hangs runs
    options = ["-timeout=60", f"-artifact_prefix={finds}/{name}-", "-max_len=6000", "-rss_limit_mb=4096", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], _counted(name, seconds))
    atheris.Fuzz()


def _counted(name: str, seconds: float, *, most: float = 2.0) -> Callable[[bytes], None]:
    """The target `name`, which ends the process after so many `seconds`, and raises TimeoutError if one input takes more than
    `most` of them.

    Both are seconds of processor time: on a busy machine the same work is done, and nothing is taken for a hang.
    """
    start, runs, slowest = time.process_time(), 0, 0.0

    def run(data: bytes) -> None:
        nonlocal runs, slowest
        begun = time.process_time()
        TARGETS[name](data)
        took, runs = time.process_time() - begun, runs + 1
        slowest = max(slowest, took)
        if took > most:
            raise TimeoutError(f"this took more than {most:g} s of processor time")
        if begun - start > seconds:
            print(f"{name}: {runs} inputs in {begun - start:.0f} s of processor time, the slowest in {slowest:.3f} s", flush=True)
            shutil.rmtree(FOLDER, ignore_errors=True)
            os._exit(0)  # libFuzzer would go on

    return run


def _with_kernels() -> list[str]:
    """Modules of bunraku that hold kernels: instrumented, they could not be compiled."""
    source = ROOT / "src"
    files = [file for file in (source / "bunraku").rglob("*.py") if "bunraku.kernels" in file.read_text(encoding="utf-8")]
    files += (source / "bunraku" / "kernels").glob("*.py")
    return [".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for file in files]


if __name__ == "__main__":
    sys.exit(main())
