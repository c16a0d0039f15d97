#!/bin/sh
# Fills fuzz/corpus from the Parquet files smaller than 20 KB below some directories:  fuzz/seed.sh DIR...
set -eu
[ $# -gt 0 ] || { echo "usage: fuzz/seed.sh DIR..." >&2; exit 2; }
manifest=$(dirname "$0")/Cargo.toml
corpus=$(dirname "$0")/corpus
find "$@" -type f -name '*.parquet' -size -20k -print |
    cargo run --quiet --release --manifest-path "$manifest" --example seed -- "$corpus"
