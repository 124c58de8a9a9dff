"""Prints which core dependencies have wheels for which platforms, and the size of a core install.

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
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLATFORMS = {
    "Linux x86-64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "Linux arm64": ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macOS arm64": ("macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64"),
    "Windows": ("win_amd64",),
}


def core() -> list[str]:
    """The requirements of the core, as pyproject.toml has them."""
    return list(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])


def available(requirement: str, tags: tuple[str, ...], python: str) -> str:
    """The size of the wheel of a `requirement` for the platforms `tags` and a `python`, or "none"."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder]
        command += ["--python-version", python, "--implementation", "cp", *(f"--platform={tag}" for tag in tags), requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = list(Path(folder).glob("*.whl"))
        if done.returncode != 0 or not found:
            return "none"
        return f"{found[0].name.split('-')[1]} ({found[0].stat().st_size / 1e6:.1f} MB)"


def installed_size() -> str:
    """The size of a new environment with the core, without pip."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        command = [sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "--quiet", "--no-compile", *core()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"could not be installed: {done.stderr.strip().splitlines()[-1]}"
        packages = next(Path(folder).glob("lib/python*/site-packages"))
        size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file() and not file.is_symlink())
        return f"{size / 1e6:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description="Core dependencies by platform, and the size of a core install.")
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}", help="version of Python")
    parser.add_argument("--no-size", action="store_true", help="leave the size of an install out")
    asked = parser.parse_args()
    print(f"{'':<28}" + "".join(f"{name:<22}" for name in PLATFORMS))
    for requirement in core():
        row = [available(requirement, tags, asked.python) for tags in PLATFORMS.values()]
        print(f"{requirement:<28}" + "".join(f"{cell:<22}" for cell in row), flush=True)
    if not asked.no_size:
        print(f"core install: {installed_size()}")


if __name__ == "__main__":
    main()
