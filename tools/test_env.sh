#!/bin/sh
# Fetches what tests use besides .venv: a browser for the stage, and Node packages to build its page again.
# Whatever cannot be had is named in one line, with how to get it; its tests skip. Nothing here fails.
set -u
say() { echo "bunraku: $*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }

if ! has chromium || ! has chromedriver; then
    if [ "$(id -u)" = 0 ] && has apt-get; then
        say "installing the Debian packages chromium and chromium-driver, for the tests of the stage"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; } \
            >/dev/null 2>&1 </dev/null || true
    fi
    if ! has chromium || ! has chromedriver; then
        say "no browser: its tests will skip (Debian: apt install chromium chromium-driver)"
    fi
fi

if has npm; then
    mark=stage-web/node_modules/.ready-$(cksum <stage-web/package-lock.json | cut -d' ' -f1)
    if [ ! -e "$mark" ]; then
        say "fetching the Node packages of stage-web"
        if (cd stage-web && npm ci --no-audit --no-fund </dev/null >/dev/null 2>&1); then
            touch "$mark"
        else
            rm -rf stage-web/node_modules
            say "npm ci failed: the page will not be built again (try it in stage-web)"
        fi
    fi
else
    say "no npm: the page will not be built again (Debian: apt install nodejs npm)"
fi
exit 0
