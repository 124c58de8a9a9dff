"""Builds the wheel for this machine's platform, with the machine code of the kernels: `make wheel`.

For each level of processors that this one can run (x86-64-v2, v3, v4), a process compiles what the work below asks for, for
that level; the compiled kernels go into the wheel, which is then no longer pure: it is for one Python and one platform. A machine
of another platform, Python or numba compiles by itself, as a clone does.

    python tools/wheel.py [--quick] [--level x86-64-v3 …] [--to dist]

--quick: only what a first simulation needs
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST_SIMULATION = """
import bunraku
from bunraku import library
for figure in (library.marionette25(), library.marionette22()):
    bunraku.simulate(figure, duration=0.05)
"""
# Everything on the opening show, opened; live ones take a few steps.
OPENING_SHOW = """
from bunraku.stage.entry import Recorded
from bunraku.teleop import opening_show
from bunraku.errors import BunrakuError
for entry in opening_show():
    try:
        shown = entry.open()
        if not isinstance(shown, Recorded):
            shown.reset()
            for _ in range(3):
                shown.step()
    except BunrakuError as problem:
        print(f"{entry.title}: {problem}")
"""


# What other figures need: pulleys, friction, springs, bodies that touch.
OTHER_FIGURES = """
from bunraku.kernels.units import compile_all
compile_all()
"""


def compiled(level: str, work: str, folder: Path) -> list[Path]:
    """The files of all kernels that some `work` needs, compiled for a `level` into a `folder`."""
    own = {**os.environ, "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "XDG_CACHE_HOME": str(folder)}
    own["PYTHONPATH"] = str(ROOT / "src")
    subprocess.run([sys.executable, "-c", work], env=own, check=True, cwd=folder)
    return sorted((folder / "bunraku" / "kernels").rglob("*.nbc"))


def pure_wheel(folder: Path) -> Path:
    """The wheel of the sources alone."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def platform_tag() -> str:
    """Interpreter, its binary interface and platform, as pip names them."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def with_machine_code(pure: Path, code: dict[str, bytes], folder: Path) -> Path:
    """The `pure` wheel with `code`, bytes by name in the wheel, written into a `folder`."""
    tag = platform_tag()
    name, version = pure.name.split("-")[:2]
    out, record = folder / f"{name}-{version}-{tag}.whl", []
    with zipfile.ZipFile(pure) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        about = f"{name}-{version}.dist-info"

        def add(path: str, data: bytes) -> None:
            new.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        for path in old.namelist():
            data = old.read(path)
            if path == f"{about}/WHEEL":
                text = data.decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").replace("py3-none-any", tag)
                data = text.encode()
            if path != f"{about}/RECORD":
                add(path, data)
        for path, data in code.items():
            add(path, data)
        new.writestr(f"{about}/RECORD", "\n".join([*record, f"{about}/RECORD,,", ""]))
    return out


def main() -> None:
    from bunraku.kernels.processor import levels

    parser = argparse.ArgumentParser(description="Builds the wheel for this platform, with machine code.")
    parser.add_argument("--quick", action="store_true", help="only what a first simulation needs")
    parser.add_argument("--level", action="append", choices=levels(), help="a level of processors; by default, all that run here")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="folder of the wheel")
    asked = parser.parse_args()
    asked.to.mkdir(parents=True, exist_ok=True)
    work = FIRST_SIMULATION if asked.quick else FIRST_SIMULATION + OPENING_SHOW + OTHER_FIGURES
    code = {}
    with tempfile.TemporaryDirectory() as folder:
        for level in asked.level or levels():
            cache = Path(folder) / level
            cache.mkdir()
            files = compiled(level, work, cache)
            for file in files:
                where = file.relative_to(cache / "bunraku" / "kernels").as_posix()
                code[f"bunraku/kernels/machine_code/{level}/{where}"] = file.read_bytes()
            code["bunraku/kernels/machine_code/digests.txt"] = (cache / "bunraku" / "kernels" / "digests.txt").read_bytes()
            print(f"{level}: {len(files)} kernels, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
        pure = Path(folder) / "pure"
        wheel = with_machine_code(pure_wheel(pure), code, asked.to)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
