#!/bin/sh
# Fills fuzz/corpus from the Parquet files smaller than 20 KB below some directories:  fuzz/seed.sh DIR...
# With --small it is fuzz/corpus-small, which is in the repository: 12 KiB of inputs for each target, chosen for what
# they show. What fuzzing has found is put there by hand, as finding-*.
set -eu
corpus=$(dirname "$0")/corpus
bytes=
if [ "${1:-}" = --small ]; then
    shift
    corpus=$(dirname "$0")/corpus-small
    bytes=12288
    mkdir -p "$corpus"
    find "$corpus" -type f ! -name 'finding-*' -delete
fi
[ $# -gt 0 ] || { echo "usage: fuzz/seed.sh [--small] DIR..." >&2; exit 2; }
manifest=$(dirname "$0")/Cargo.toml
find "$@" -type f -name '*.parquet' -size -20k -print | LC_ALL=C sort |
    cargo run --quiet --manifest-path "$manifest" --example seed -- "$corpus" $bytes
