"""Builds the wheel for this machine's platform, with the machine code of the kernels: `make wheel`.

For each level of processors that this one can run (x86-64-v2, v3, v4), a process compiles what the work below asks for, for
that level; the compiled kernels go into the wheel, which is then no longer pure: it is for one Python and one platform. A machine
of another platform, Python or numba compiles by itself, as a clone does. If the work did not need some kernel, the wheel is not
built: then the work is to be extended.

    python tools/wheel.py [--quick] [--level x86-64-v3 …] [--to dist]

--quick: only what a first simulation needs
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "bunraku"

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
for entry in opening_show():
    shown = entry.open()
    if not isinstance(shown, Recorded):
        shown.reset()
        for _ in range(3):
            shown.step()
"""
# Every verb: the orders that come with bunraku, their motions drawn, and the examples.
VERBS = """
import runpy
import bunraku
from matplotlib import pyplot
from bunraku.io.shipped import shipped_orders
for name in shipped_orders():
    result = bunraku.load(name).run()
    bunraku.save(getattr(result, "motion", result), f"{name}.png")
for example in sorted((ROOT / "examples").glob("[0-9][0-9]_*.py")):
    runpy.run_path(str(example), run_name="__main__")
    pyplot.close("all")
"""
# What these do not need: a single function, another planner.
THE_REST = """
from dataclasses import replace
from bunraku.dynamics.quantities import energy
puppet = library.marionette22()
energy(puppet, puppet.start, 0.0 * puppet.start)
replace(bunraku.load("around_the_block"), planner="ao-est", budget=5.0, smooth=False).run()
"""
# What other figures need: pulleys, friction, springs, bodies that touch.
OTHER_FIGURES = """
from bunraku.kernels.units import compile_all
compile_all()
"""
PLACES = f"from pathlib import Path; ROOT = Path({str(ROOT)!r})"
WORK = PLACES + FIRST_SIMULATION + OPENING_SHOW + VERBS + THE_REST + OTHER_FIGURES
# What else only tests need.
TESTS = (
    "kernels/test_twins.py", "control/test_push_inputs.py", "dynamics/test_complementarity.py",
    "dynamics/touch/test_strings_on_bodies.py", "planning/strings/test_hand_segment.py", "locomotion/guide/test_onward.py",
    "locomotion/climb/test_adhesion.py", "locomotion/climb/test_climb_in_bunraku.py", "locomotion/climb/test_surfaces.py",
)  # fmt: skip


def compiled(level: str, folder: Path, *, quick: bool) -> list[Path]:
    """The files of all kernels, compiled for a `level` into a `folder`; if `quick`, of those that a first simulation needs."""
    own = {**os.environ, "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "XDG_CACHE_HOME": str(folder)}
    own |= {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    subprocess.run([sys.executable, "-c", FIRST_SIMULATION if quick else WORK], env=own, check=True, cwd=folder)
    if not quick:
        tests = [f"tests/{name}" for name in TESTS]
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], env=own, check=True, cwd=ROOT)
    files = (folder / "bunraku" / "kernels").rglob("*.nbc")
    return sorted(file for file in files if (SOURCES / f"{_module(file).replace('.', '/')}.py").exists())  # not those of tests


def _module(file: Path) -> str:
    """The module of a `file` of machine code, without "bunraku."."""
    return file.parent.name.rpartition("-")[0]


def without_code(files: list[Path]) -> list[str]:
    """The entry points, kernels that Python calls, of which no machine code is among the `files`, as module.name."""
    have, kernels = {f"{_module(file)}.{file.name.split('.')[0]}" for file in files}, set()
    for source in SOURCES.rglob("*.py"):
        module = ".".join(source.relative_to(SOURCES).with_suffix("").parts)
        names = re.findall(r"^@kernel\ndef (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE)
        kernels |= {f"{module}.{name}" for name in names}
    return sorted(kernels - have)


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
    code = {}
    with tempfile.TemporaryDirectory() as folder:
        for level in asked.level or levels():
            cache = Path(folder) / level
            cache.mkdir()
            files = compiled(level, cache, quick=asked.quick)
            if not asked.quick and (missing := without_code(files)):
                sys.exit(f"{level}: no machine code of {', '.join(missing)}; extend the work in tools/wheel.py")
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
