#!/usr/bin/env bash
# DataFusion's sqllogictests that touch Parquet, with Marquetry in the place of its Parquet: bash .ci/datafusion/sqllogictest.sh
#
# The tests are those of the crate `datafusion-sqllogictest`, as crates/ballista/Cargo.lock has it. Their data is not in it: what is
# not found in these folders is counted as such.
#
# MARQUETRY_DATAFUSION: a checkout of apache/datafusion of that release, for datafusion/core/tests/data
# MARQUETRY_PARQUET_TESTING, MARQUETRY_ARROW_TESTING: checkouts of apache/parquet-testing and apache/arrow-testing; if not given, those
#   in the checkout of DataFusion
# Arguments are handed on: --verbose, --only NAME
set -euo pipefail
cd "$(dirname "$0")/../.."

datafusion=${MARQUETRY_DATAFUSION:-}
parquet_testing=${MARQUETRY_PARQUET_TESTING:-${datafusion:+$datafusion/parquet-testing}}
arrow_testing=${MARQUETRY_ARROW_TESTING:-${datafusion:+$datafusion/testing}}
if [ -z "$parquet_testing" ] && [ -d ../shared/parquet-testing ]; then parquet_testing=../shared/parquet-testing; fi
known=$PWD/.ci/datafusion/known.txt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Folders are beside each other as in DataFusion's repository, where the tests look for them.
mkdir -p "$work/datafusion/core"
if [ -n "$parquet_testing" ]; then ln -s "$(realpath "$parquet_testing")" "$work/parquet-testing"; fi
if [ -n "$arrow_testing" ]; then ln -s "$(realpath "$arrow_testing")" "$work/testing"; fi
if [ -n "$datafusion" ]; then
    for folder in core/tests datasource-arrow; do
        mkdir -p "$work/datafusion/$(dirname "$folder")"
        ln -s "$(realpath "$datafusion/datafusion/$folder")" "$work/datafusion/$folder"
    done
fi

cd crates/ballista
tests=$(cargo metadata --locked --format-version 1 | python3 -c '
import json, os, sys
packages = json.load(sys.stdin)["packages"]
print(*(os.path.dirname(p["manifest_path"]) for p in packages if p["name"] == "datafusion-sqllogictest"))')
cp -r "$tests" "$work/datafusion/sqllogictest"
cargo build --quiet --locked -p marquetry-sqllogictest
runner=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/marquetry-sqllogictest
cd "$work/datafusion/sqllogictest"
"$runner" --known "$known" "$@"
