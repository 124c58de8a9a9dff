#!/bin/sh
# Makes .venv and installs into it what requirements.lock says, and this project, editable.
# Needs Python 3.11 to 3.14 with venv, or pip, or uv; no compiler. `make env` names the file to touch when done.
set -eu
ready=$1

say() { echo "bunraku: $*" >&2; }
fail() { say "$1"; shift; for line; do echo "  $line" >&2; done; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; }
has_pip() { "$1" -m pip --version >/dev/null 2>&1; }
apt_install() {  # in a bare container
    [ "$(id -u)" = 0 ] && has apt-get && say "installing the Debian package $1" &&
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$1"; } \
            >/dev/null </dev/null
}

# Settings of a user's pip that make no sense inside an environment.
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# Two at once would spoil each other's work.
exec 9>.venv.lock
if has flock; then flock 9; fi
if [ -e "$ready" ]; then exit 0; fi

# -- an environment ------------------------------------------------------------------------------------------

python=
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
    if suits "$candidate"; then python=$candidate; break; fi
done
[ -n "$python" ] || fail "no Python from 3.11 to 3.14 among: ${PYTHON:-python3 python3.11 … python3.14}" \
    "Install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.13)" \
    "or name one: make env PYTHON=python3.12"

with_venv() { rm -rf .venv && { "$python" -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; false; }; }; }
with_uv() { has uv && uv venv --quiet --clear --python "$python" .venv; }
with_virtualenv() {  # Debian without python3-venv
    has_pip "$python" && "$python" -m pip install --quiet --upgrade --target .venv-tools virtualenv &&
        rm -rf .venv && PYTHONPATH=.venv-tools "$python" -m virtualenv --quiet .venv
}
with_apt() { say "$python has neither venv nor pip" && apt_install python3-venv && with_venv; }

usable() { suits .venv/bin/python && { has uv || has .venv/bin/uv || has_pip .venv/bin/python; }; }

if ! usable; then
    say "making .venv with $("$python" --version)"
    with_venv || with_uv || with_virtualenv || with_apt || fail \
        "$python can make no environment: it lacks venv and pip, and uv is not installed" \
        "Debian, Ubuntu: apt install python3-venv" "elsewhere: install pip or uv"
fi

# -- what belongs in it --------------------------------------------------------------------------------------

quiet=--quiet
if [ -t 2 ]; then quiet=; fi  # someone is watching: show progress

with_pip() { .venv/bin/python -m pip install $quiet "$@"; }

# uv is several times faster than pip; pip knows a user's mirrors and proxies. Try the one, then the other.
uv=uv
if ! has uv; then uv=.venv/bin/uv; fi
if ! has $uv; then with_pip --only-binary :all: "$(grep -o '^uv==[^ ]*' requirements.lock)" || true; fi
install() {
    if has $uv; then
        $uv pip install $quiet --python .venv/bin/python "$@" && return
        say "uv failed: trying pip"
    fi
    with_pip "$@"
}

say "installing the packages of requirements.lock (some minutes the first time)"
install --only-binary :all: --require-hashes --requirement requirements.lock
install --no-deps --no-build-isolation --editable .
.venv/bin/python -c 'import bunraku'

# Pinocchio, with which tests compare, needs a runtime library that bare machines lack.
.venv/bin/python -c 'import pinocchio' >/dev/null 2>&1 || apt_install libgomp1 ||
    say "note: Pinocchio cannot be imported (on Debian: apt install libgomp1); tests that need it will skip"

rm -rf .venv/.ready-* .venv-tools
touch "$ready"
