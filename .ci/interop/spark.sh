#!/usr/bin/env bash
# Spark reads our files, and we read Spark's: bash .ci/interop/spark.sh. Needs Java 17 and takes some minutes, so it is no
# part of .ci/run. Prints what Spark takes of each encoding, with its vectorised reader and with the other.
#
# With --encryption instead: encrypted files in both directions, with keys of columns, key management and AES-CTR.
# With --variants: shredded variants in both directions.
#
# MARQUETRY_INTEROP: the example `interop`, if it is built already
# MARQUETRY_CLI: the command, for --encryption and --variants, if it is built already
# MARQUETRY_SPARK_VENV: where Python's packages are kept
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${MARQUETRY_SPARK_VENV:-.venv/spark}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3 numpy==2.4.6

case "${1:-}" in
--encryption | --variants)
    cli=${MARQUETRY_CLI:-}
    if [ -z "$cli" ]; then
        cargo build --release --quiet -p marquetry-cli
        cli=${CARGO_TARGET_DIR:-target}/release/marquetry
    fi
    PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" ".ci/interop/spark_${1#--}.py" "$cli"
    ;;
esac

binary=${MARQUETRY_INTEROP:-}
if [ -z "$binary" ]; then
    cargo build --release --quiet -p marquetry --example interop
    binary=${CARGO_TARGET_DIR:-target}/release/examples/interop
fi

PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" .ci/interop/spark.py "$binary" "$@"
