# Every target sets up .venv by itself when it has to; `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help env test-env play test test-all lint format bench docs test-numba wheel lock sbom audit fuzz clean distclean

PY := .venv/bin/python
ARGS ?=

# Set-up is done again when what is wanted, or where it stands, has changed.
READY := .venv/.ready-$(shell { pwd; cat pyproject.toml requirements.lock; } | cksum | cut -d' ' -f1)

# Other people's packages (a sourced ROS workspace, say) must not leak into the environment.
unexport PYTHONPATH PYTHONHOME

# Without bytecode on disk, every process compiles all modules that it imports: 2.0 s instead of 0.6 s, and tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

env: $(READY)  ## set up .venv, nothing more (PYTHON=python3.12 picks the interpreter)

$(READY):
	@sh tools/env.sh $@

play: env  ## open demonstrations of everything that bunraku does, in the browser
	@.venv/bin/bunraku play $(ARGS)

# Each worker starts in a part of its own, so that one compiles what the other does not need yet.
PYTEST := $(PY) -m pytest -n 3 --dist worksteal

test-env: env
	@sh tools/test_env.sh

test: lint test-env  ## check style, types, layers; run the fast tests (ARGS="-k strings" selects)
	@$(PYTEST) $(ARGS)

test-all: lint test-env  ## the same, with the slow tests
	@$(PYTEST) -m "" $(ARGS)

lint: env  ## check style, types and layers only
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check --quiet || { echo "run: make format"; exit 1; }
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-logo

format: env  ## format the sources as `make lint` requires
	@$(PY) -m ruff check --fix-only --quiet
	@$(PY) -m ruff format

bench: env  ## run the benchmarks, print a table, write benchmarks/results.json (ARGS=kinematics selects some)
	@$(PY) -m benchmarks $(ARGS)

docs: env  ## build the documentation into docs/_build/html
	@$(PY) -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

test-numba: env  ## test the kernels with the oldest and the newest numba that pyproject.toml allows
	@PYTHON=$(PY) sh tools/numba_versions.sh

wheel: env  ## build the wheel for this platform, with machine code for x86-64-v2, v3, v4 (ARGS=--quick: only that of a first simulation)
	@$(PY) tools/wheel.py $(ARGS)

lock: env  ## resolve pyproject.toml into requirements.lock (ARGS=--upgrade upgrades all)
	@.venv/bin/uv pip compile --quiet --universal --extra dev --only-binary :all: --no-annotate --generate-hashes \
		--custom-compile-command "make lock" --output-file requirements.lock $(ARGS) pyproject.toml
	@$(MAKE) --no-print-directory env

sbom: env  ## write a software bill of materials (CycloneDX) to build/sbom.json
	@$(PY) tools/sbom.py

audit: sbom  ## search for known vulnerabilities of the locked packages (needs the network)
	@.venv/bin/uv tool run pip-audit --strict --requirement requirements.lock --require-hashes --disable-pip
	@cd stage-web && npm audit --omit=dev

fuzz: env  ## fuzz every loader and the page's messages (ARGS="--seconds 250" for an hour)
	@.venv/bin/uv pip install --quiet --python $(PY) atheris
	@$(PY) -m fuzz $(ARGS)

clean:  ## remove caches and products
	rm -rf build dist out docs/_build docs/gallery docs/notebooks docs/reference benchmarks/results.json
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples docs tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean  ## remove the environment too
	rm -rf .venv .venv-tools .venv-numba .venv-blender .venv.lock
