#!/bin/sh
# Runs every fuzz target, or those that are named, one after the other:  fuzz/run.sh MINUTES [TARGET...]
# MINUTES is the time of each and may be a fraction.
set -eu
cd "$(dirname "$0")"
minutes=${1:?usage: fuzz/run.sh MINUTES [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(RUSTC_BOOTSTRAP=1 cargo fuzz list --fuzz-dir .)
seconds=$(awk "BEGIN { print int($minutes * 60) }")
export RUSTC_BOOTSTRAP=1 # sanitizers, on the stable toolchain
# libdeflate defines equal tables twice, under one name: the only report that says nothing of this library.
export ASAN_OPTIONS="detect_odr_violation=0:${ASAN_OPTIONS:-}"
for target in "$@"; do
    case $target in
    file | verify | salvage | recover | round_trip | differential) max_len=20480 ;;
    footer) max_len=8192 ;;
    *) max_len=4096 ;;
    esac
    features=
    [ "$target" != differential ] || features="--features differential"
    # Threads that end just then are taken for leaks.
    leaks=1
    [ "$target" != verify ] || leaks=0
    mkdir -p "corpus/$target"
    echo "== $target, $seconds s"
    cargo fuzz run --fuzz-dir . $features "$target" "corpus/$target" "corpus-small/$target" -- \
        "-max_total_time=$seconds" "-max_len=$max_len" "-detect_leaks=$leaks" \
        -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=20 -print_final_stats=1
done
