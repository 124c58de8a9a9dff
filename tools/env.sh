#!/bin/sh
# Makes .venv and installs into it what requirements.lock says, and this project, editable.
# Needs Python 3.11 to 3.14 with venv, or pip, or uv; no compiler. `make env` calls it with the file to touch when done.
set -eu
ready=$1

say() { echo "bunraku: $*" >&2; }
fail() { say "$1"; shift; for line; do echo "  $line" >&2; done; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; }

# A user's pip settings that make no sense inside an environment.
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# Two at once would spoil each other's work.
exec 9>.venv.lock
if has flock; then flock 9; fi
if [ -e "$ready" ]; then exit 0; fi

python=
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
    if suits "$candidate"; then python=$candidate; break; fi
done
[ -n "$python" ] || fail "no Python from 3.11 to 3.14 was found (tried: ${PYTHON:-python3, python3.11 to python3.14})" \
    "Install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.13)," \
    "or name one: make env PYTHON=/path/to/python3.12"

with_uv() { has uv && uv venv --quiet --clear --python "$python" .venv; }
with_venv() { rm -rf .venv && "$python" -m venv .venv >/dev/null 2>&1; }
with_virtualenv() {  # Debian without python3-venv
    "$python" -m pip --version >/dev/null 2>&1 &&
        "$python" -m pip install --quiet --upgrade --target .venv-tools virtualenv &&
        rm -rf .venv && PYTHONPATH=.venv-tools "$python" -m virtualenv --quiet .venv
}
with_apt() {  # a bare container
    [ "$(id -u)" = 0 ] && has apt-get || return 1
    say "this Python has neither venv nor pip: installing the Debian package python3-venv"
    { apt-get update && apt-get install --yes --no-install-recommends python3-venv; } >/dev/null </dev/null && with_venv
}
install() {
    if has uv; then uv pip install --python .venv/bin/python "$@"; else .venv/bin/python -m pip install "$@"; fi
}

if ! suits .venv/bin/python || ! { has uv || .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
    say "making .venv with $("$python" --version)"
    with_uv || with_venv || with_virtualenv || with_apt || fail \
        "$python can make no environment: it lacks venv and pip, and uv is not installed" \
        "Debian, Ubuntu: apt install python3-venv" "elsewhere: install pip or uv"
fi

say "installing the packages of requirements.lock (some minutes the first time)"
quiet=--quiet
if [ -t 2 ]; then quiet=; fi  # someone is watching: show progress
install $quiet --only-binary :all: --requirement requirements.lock
install --quiet --no-deps --no-build-isolation --editable .
.venv/bin/python -c 'import bunraku'

rm -rf .venv/.ready-* .venv-tools
touch "$ready"
