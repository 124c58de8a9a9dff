"""The committed page is what its sources make."""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES, WEB = ROOT / "stage-web", ROOT / "src/bunraku/stage/web"
PARTS = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.js", "src")

pytestmark = pytest.mark.skipif(not SOURCES.exists(), reason="the sources of the page are not here")


def sources_hash() -> str:
    """As vite.config.js computes it."""
    files = [f for part in PARTS for f in ([SOURCES / part] if (SOURCES / part).is_file() else (SOURCES / part).rglob("*"))]
    named = sorted((f.relative_to(SOURCES).as_posix(), f) for f in files if f.is_file())
    whole = hashlib.sha256()
    for name, file in named:
        whole.update(f"{name}\n{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def test_the_page_was_built_from_these_sources() -> None:
    """Without Node: the build leaves a hash of its sources behind."""
    stale = "the page is stale: cd stage-web && npm ci && npm run build"
    assert (WEB / "sources.sha256").read_text().strip() == sources_hash(), stale


def test_the_message_types_are_those_of_the_python_side() -> None:
    stale = "the types are stale: python tools/message_types.py, then cd stage-web && npm run build"
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import message_types
    finally:
        sys.path.pop(0)
    assert (SOURCES / "src/messages.ts").read_text() == message_types.written(), stale


def node(tool: str, *arguments: str, **environment: str) -> None:
    """Runs a tool of node_modules in the folder of the sources; skips where there is none, fails where it fails."""
    program, script = shutil.which("node"), SOURCES / "node_modules" / tool
    if program is None or not script.exists():
        pytest.skip("Node or stage-web/node_modules is missing: cd stage-web && npm ci")
    done = subprocess.run(
        [program, str(script), *arguments],
        cwd=SOURCES, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_building_again_gives_the_same_page(tmp_path: Path) -> None:
    node("vite/bin/vite.js", "build", STAGE_OUT=str(tmp_path / "web"))
    built = sorted(p.name for p in (tmp_path / "web").iterdir())
    assert built == sorted(p.name for p in WEB.iterdir())
    _, different, wrong = filecmp.cmpfiles(tmp_path / "web", WEB, built, shallow=False)
    assert not different + wrong


def test_the_types_are_right() -> None:
    node("typescript/bin/tsc", "--noEmit")


def test_the_sources_are_formatted_and_free_of_import_cycles() -> None:
    """As `npm run lint` does."""
    node("@biomejs/biome/bin/biome", "ci", "--error-on-warnings")


def test_the_unit_tests_of_the_page_pass() -> None:
    """As `npm test` does, but in one process instead of fifteen."""
    node("vitest/vitest.mjs", "run", "--no-isolate")


def test_the_page_is_small_and_names_no_other_host() -> None:
    sizes = {p.name: p.stat().st_size for p in WEB.iterdir()}
    assert sizes["stage.js"] < 800_000
    assert sum(sizes.values()) < 1_000_000
    for name in ("index.html", "stage.css"):
        assert "http" not in (WEB / name).read_text().replace("http-equiv", "")


def test_every_package_is_locked_by_its_hash_for_every_platform() -> None:
    """Binaries of other platforms too, or `npm ci` there would take whatever a registry sends, or nothing at all.

    npm locks a binary that the registry does not offer without a hash, or leaves it out: then pin an older release.
    """
    packages = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    del packages[""]  # the page itself
    assert [name for name, package in packages.items() if not package.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []  # names no registry
    named = {name.rpartition("node_modules/")[2] for name in packages}
    optional = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    assert optional - named == set()
