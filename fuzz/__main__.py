"""python -m fuzz [--seconds N] [TARGET …]: fuzzes every target for N seconds (60 by default).

The exit status is 1 if it finds something.

Each target runs in a process of its own. What it finds is kept in fuzz/finds/TARGET-*, and printed with its traceback.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
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
    options = [
        f"-max_total_time={seconds}",
        "-timeout=2",
        f"-artifact_prefix={finds}/{name}-",
        "-max_len=6000",
        "-rss_limit_mb=4096",
    ]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", "-verbosity=0", str(corpus)], TARGETS[name])
    atheris.Fuzz()


def _with_kernels() -> list[str]:
    """Modules of bunraku that hold kernels: instrumented, they could not be compiled."""
    source = ROOT / "src"
    files = [file for file in (source / "bunraku").rglob("*.py") if "bunraku.kernels" in file.read_text(encoding="utf-8")]
    files += (source / "bunraku" / "kernels").glob("*.py")
    return [".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for file in files]


if __name__ == "__main__":
    sys.exit(main())
