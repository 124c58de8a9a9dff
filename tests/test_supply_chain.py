"""Every package that bunraku is made of is pinned by hash, and what it is made of can be listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_python_package_is_pinned_by_hash() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^[A-Za-z0-9_.-]+==.*?(?=^[A-Za-z0-9_.-]+==|\Z)", lock, re.MULTILINE | re.DOTALL)
    assert len(pins) > 50
    assert [pin.partition(" ")[0] for pin in pins if "--hash=sha256:" not in pin] == []
    assert "--require-hashes" in (ROOT / "tools" / "env.sh").read_text(encoding="utf-8")


def test_every_node_package_has_its_integrity() -> None:
    packages = json.loads((ROOT / "stage-web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert [place for place, one in packages.items() if place and "integrity" not in one] == []


def test_an_install_with_a_changed_hash_is_refused(tmp_path: Path) -> None:
    """pip compares what it got with what it was promised. The package is made here, so that no network is needed."""
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "nothing"\nversion = "1"\n'
    )
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    install = [
        sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--dry-run", "--find-links", str(tmp_path / "dist"),
        "--require-hashes", "-r", str(tmp_path / "requirements.txt"),
    ]  # fmt: skip
    (tmp_path / "requirements.txt").write_text(f"nothing==1 --hash=sha256:{'0' * 64}\n")
    refused = subprocess.run(install, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "DO NOT MATCH THE HASHES" in refused.stderr


def test_the_bill_of_materials_lists_both_locks(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "sbom.py", tmp_path / "sbom.json"], check=True, capture_output=True)
    made = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    listed = {one["purl"].partition("@")[0] for one in made["components"]}
    assert {"pkg:pypi/numpy", "pkg:pypi/numba", "pkg:npm/three"} <= listed
    assert all(one["hashes"] for one in made["components"])
