"""Writes what bunraku is made of as a CycloneDX 1.5 document: python tools/sbom.py [FILE], build/sbom.json by default.

The components are the packages of requirements.lock and of stage-web/package-lock.json, each with its version and hashes. It reads
these two files and nothing else, so that it needs no network.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=(sha\d+):([0-9a-f]+)")
ALGORITHMS = {"sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}


def python_packages(lock: str) -> Iterator[dict[str, Any]]:
    """The components of a requirements file `lock` with hashes."""
    pins = list(PINNED.finditer(lock))
    for k, pin in enumerate(pins):
        end = pins[k + 1].start() if k + 1 < len(pins) else len(lock)
        hashes = [{"alg": ALGORITHMS[alg], "content": digest} for alg, digest in HASH.findall(lock[pin.end() : end])]
        yield component("pypi", pin[1].lower().replace("_", "-"), pin[2], hashes)


def node_packages(lock: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The components of a package-lock.json `lock`."""
    for place, package in lock["packages"].items():
        if not place:
            continue
        name = package.get("name", place.rpartition("node_modules/")[2])
        alg, _, digest = package.get("integrity", "").partition("-")
        hashes = [{"alg": ALGORITHMS[alg], "content": base64.b64decode(digest).hex()}] if digest else []
        yield component("npm", name, package["version"], hashes) | ({"scope": "excluded"} if package.get("dev") else {})


def component(kind: str, name: str, version: str, hashes: list[dict[str, str]]) -> dict[str, Any]:
    """One entry of the document: its `kind` (pypi, npm), `name`, `version` and `hashes`."""
    purl = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "hashes": hashes}


def document() -> dict[str, Any]:
    """The whole document."""
    python = python_packages((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    node = node_packages(json.loads((ROOT / "stage-web" / "package-lock.json").read_text(encoding="utf-8")))
    found = re.search(r'__version__ = "(.*?)"', (ROOT / "src" / "bunraku" / "__init__.py").read_text(encoding="utf-8"))
    assert found is not None
    components = {one["bom-ref"]: one for one in (*python, *node)}  # npm lists a package at every place where it is used
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "bunraku", "version": found[1]}},
        "components": list(components.values()),
    }  # fmt: skip


def main() -> None:
    """Writes the document and says how many components it has."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "sbom.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    made = document()
    target.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {len(made['components'])} components")


if __name__ == "__main__":
    main()
