#!/bin/sh
# Runs the tests of the kernels with the oldest and the newest numba that pyproject.toml allows, each in an environment of its own.
# Usage: sh tools/numba_versions.sh [folder for the environments]   (needs .venv, for uv)
set -eu
folder=${1:-.venv-numba}
uv=.venv/bin/uv
if ! [ -x $uv ]; then uv=uv; fi
mkdir -p "$folder"
sed -n 's/.*"\(numba>=[^"]*\)".*/\1/p' pyproject.toml >"$folder/numba.txt"
for which in lowest-direct highest; do
    env=$folder/$which
    [ -x "$env/bin/python" ] || $uv venv --quiet --python "${PYTHON:-python3}" "$env"
    # Only numba is taken from the end of its range; what it does not bring is as new as it allows.
    $uv pip install --quiet --python "$env/bin/python" --only-binary :all: --resolution $which -r "$folder/numba.txt"
    numba=$("$env/bin/python" -c 'import numba; print(numba.__version__)')
    $uv pip install --quiet --python "$env/bin/python" --only-binary :all: "numba==$numba" -r pyproject.toml \
        --extra coal pytest pytest-timeout pytest-xdist hypothesis httpx
    echo "numba $numba"
    PYTHONPATH=src "$env/bin/python" -m pytest -q -p no:cacheprovider tests/kernels tests/dynamics/test_simulate.py
done
