#!/usr/bin/env bash
# Files in an S3-compatible server on this machine: bash .ci/remote/run.sh
#
# MARQUETRY_VENV: where Python's packages are kept
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${MARQUETRY_VENV:-.venv}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" 2>/dev/null || { apt-get update -q && apt-get install -y -q python3-venv && python3 -m venv "$venv"; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r .ci/remote/requirements.txt

work=$(mktemp -d)
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" .ci/remote/server.py >"$work/address" 2>"$work/log" &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    [ -s "$work/address" ] && break
    kill -0 $server 2>/dev/null || { cat "$work/log"; exit 1; }
    sleep 0.1
done
MARQUETRY_S3=$(cat "$work/address")
[ -n "$MARQUETRY_S3" ] || { echo "the server does not answer"; cat "$work/log"; exit 1; }

# The variables that the command line looks at, too.
export MARQUETRY_S3 MARQUETRY_S3_LOG="$work/log" AWS_ENDPOINT_URL="$MARQUETRY_S3" AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
# As a part of all crates, whose other tests were built already.
cargo test --quiet --test s3 --test remote
