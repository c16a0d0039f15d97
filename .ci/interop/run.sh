#!/usr/bin/env bash
# Other libraries read our files, and we read theirs: bash .ci/interop/run.sh [--full | --quick]
#
# MARQUETRY_INTEROP: the example `interop`, if it is built already
# MARQUETRY_CLI: the command `marquetry`, if it is built already
# MARQUETRY_VENV: where Python's packages are kept
#
# What other libraries cannot do is in known.toml. Anything else that is wrong, and any of that which is right now, fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${MARQUETRY_INTEROP:-}
if [ -z "$binary" ]; then
    cargo build --release --quiet -p marquetry --example interop
    binary=${CARGO_TARGET_DIR:-target}/release/examples/interop
fi

cli=${MARQUETRY_CLI:-}
if [ -z "$cli" ]; then
    cargo build --release --quiet -p marquetry-cli
    cli=${CARGO_TARGET_DIR:-target}/release/marquetry
fi

venv=${MARQUETRY_VENV:-.venv}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" 2>/dev/null || { apt-get update -q && apt-get install -y -q python3-venv && python3 -m venv "$venv"; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r .ci/interop/requirements.txt

PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" .ci/interop/check.py "$binary" "$cli" "$@"
"$venv/bin/python" .ci/interop/coverage.py --check
