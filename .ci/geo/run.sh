#!/usr/bin/env bash
# Boxes of clustered points read little, geopandas reads our GeoParquet and GeoJSON, and we theirs, and our metadata is what the JSON
# schemas of GeoParquet say: bash .ci/geo/run.sh
#
# MARQUETRY_CLI: the command `marquetry`, if it is built already
# MARQUETRY_GEO_VENV: where Python's packages are kept
set -euo pipefail
cd "$(dirname "$0")/../.."

cli=${MARQUETRY_CLI:-${CARGO_TARGET_DIR:-target}/debug/marquetry}
venv=${MARQUETRY_GEO_VENV:-${CARGO_TARGET_DIR:-target}/geo-venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r .ci/geo/requirements.txt
export PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" .ci/geo/clustered.py "$cli"
"$venv/bin/python" .ci/geo/readers.py "$cli"
"$venv/bin/python" .ci/geo/schemas.py "$cli"
