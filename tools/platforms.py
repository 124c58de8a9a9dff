"""Prints which core dependencies have wheels for which platforms, how large a core install is there, and what each extra adds here.

    python tools/platforms.py [--no-size]

Each dependency of pyproject.toml is asked for by `pip download --only-binary :all: --platform … --no-deps`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PLATFORMS = {
    "Linux x86-64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "Linux arm64": ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macOS arm64": ("macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64"),
    "Windows": ("win_amd64",),
}


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def core() -> list[str]:
    """The requirements of the core."""
    return list(project()["dependencies"])


def extras() -> dict[str, list[str]]:
    """The requirements of the extras that users meet; others are made of them, or for developers."""
    every = project()["optional-dependencies"]
    return {name: every[name] for name in every if name not in ("all", "test", "docs", "lint", "dev")}


def wheels(requirements: list[str], tags: tuple[str, ...], python: str, folder: str) -> list[Path]:
    """Wheels for the platforms `tags` and a `python`, downloaded into a `folder`; none if there are not all."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", folder]
    command += ["--python-version", python, "--implementation", "cp", *(f"--platform={tag}" for tag in tags), *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return list(Path(folder).glob("*.whl")) if done.returncode == 0 else []


def available(requirement: str, tags: tuple[str, ...], python: str) -> str:
    """The size of the wheel of a `requirement` for the platforms `tags` and a `python`, or "none"."""
    with tempfile.TemporaryDirectory() as folder:
        found = wheels(["--no-deps", requirement], tags, python, folder)
        return f"{found[0].name.split('-')[1]} ({found[0].stat().st_size / 1e6:.1f} MB)" if found else "none"


def unpacked(tags: tuple[str, ...], python: str) -> str:
    """The size of all files of a core install for the platforms `tags` and a `python`, or "none"."""
    with tempfile.TemporaryDirectory() as folder:
        found = wheels(core(), tags, python, folder)
        total = sum(info.file_size for wheel in found for info in zipfile.ZipFile(wheel).infolist())
        return f"{total / 1e6:.0f} MB" if found else "none"


def installed(requirements: list[str], folder: Path) -> dict[str, float]:
    """The sizes of what a new environment with the `requirements` holds, without pip, by names of files and folders [MB]."""
    venv.create(folder, with_pip=False)
    command = [sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "--quiet", "--no-compile", *requirements]
    subprocess.run(command, check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    return {one.name: size(one) for one in packages.iterdir()}


def size(path: Path) -> float:
    """Of a file, or all files below a folder [MB]."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink()) / 1e6


def print_sizes() -> None:
    """The core with its largest parts, and what each extra adds to it."""
    with tempfile.TemporaryDirectory() as folder:
        held = installed(core(), Path(folder) / "core")
        total = sum(held.values())
        parts = sorted(held.items(), key=lambda one: -one[1])[:8]
        print(f"core install: {total:.0f} MB ({', '.join(f'{name} {part:.0f}' for name, part in parts)}, …)")
        for name, requirements in extras().items():
            print(
                f"  {name:<10} + {sum(installed(core() + requirements, Path(folder) / name).values()) - total:.0f} MB", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Core dependencies by platform, and sizes of installs.")
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}", help="version of Python")
    parser.add_argument("--no-size", action="store_true", help="leave the sizes of installs out")
    asked = parser.parse_args()
    print(f"{'':<28}" + "".join(f"{name:<22}" for name in PLATFORMS))
    for requirement in core():
        row = [available(requirement, tags, asked.python) for tags in PLATFORMS.values()]
        print(f"{requirement:<28}" + "".join(f"{cell:<22}" for cell in row), flush=True)
    if not asked.no_size:
        row = [unpacked(tags, asked.python) for tags in PLATFORMS.values()]
        print(f"{'core install':<28}" + "".join(f"{cell:<22}" for cell in row), flush=True)
        print_sizes()


if __name__ == "__main__":
    main()
