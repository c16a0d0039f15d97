#!/usr/bin/env bash
# Where the time of a scan goes, the peer's and ours: bash bench/split.sh FILE...
#
# It needs Linux, perf with leave to look into the kernel (root, or kernel.perf_event_paranoid at most 1 and
# kernel.kptr_restrict 0), python3, and the benchmark, built: cargo build --profile dist -p marquetry-bench
#
# BENCH is another build of it (target/dist/marquetry-bench); ROUNDS how many times each scan is timed, and how many times
# it is recorded (3). Each scan has a process of its own, which reads the file from the page cache, on one thread.
#
# seconds      the best of the scans that are not recorded, starting and ending the process included
# codec        Snappy, Zstandard, LZ4, zlib and its like, Brotli, in the program
# page faults  the kernel giving memory that is touched for the first time, zeros included
# reading      the kernel copying from the page cache, finding, opening and closing files, and what a system call costs
# copies       memcpy, memmove and memset of the C library
# other kernel what else the kernel does, giving memory back among it
# decode       the rest: the reader itself, and malloc
# samples      of all recordings together
#
# The columns in between are percentages of the samples. A sample belongs to the function that it was taken
# in, not to who called it; so locks and lists of the kernel are "other kernel", though a page fault may have wanted them.
set -euo pipefail

bench=${BENCH:-target/dist/marquetry-bench}
rounds=${ROUNDS:-3}
[ $# -gt 0 ] || { echo "which files?" >&2; exit 2; }
[ -x "$bench" ] || { echo "$bench is not built" >&2; exit 2; }
command -v perf >/dev/null || { echo "perf is needed" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

cat >"$work/classify.py" <<'PYTHON'
"""Standard input: lines `samples|object|symbol` of perf report. Prints the cells of a row."""
import re
import sys

COLUMNS = ["codec", "page faults", "reading", "copies", "other kernel", "decode"]
CODEC = re.compile(
    r"\bsnap::|ZSTD|HUF_|FSE_|HIST_|\bXXH|zstd|lz4|LZ4|miniz|zlib|inflate|deflate|adler32|brotli|Brotli|"
    r"marquetry_codec::|parquet::compression::",
    re.ASCII,
)
COPY = re.compile(r"mem(move|cpy|set)")
# These are tried in this order. The page cache is made of folios too, and so is memory that is given back.
BACK = re.compile(r"free_|remove|uncharge|folios_put|unmap|zap_|tlb_|put_pages")
READING = re.compile(
    r"copy_to_iter|copy_(page|folio)_to_iter|_copy_to_user|^filemap_(?!map|fault)|^(vfs|ksys)_(read|pread)|^new_sync_read|"
    r"read_iter|_read_folio|^x(a|as)_|do_syscall|^x64_sys_call|entry_SYSCALL|syscall_(return|enter|exit)|sys_(p?read|lseek)|"
    r"rw_verify_area|^fdget|^fput|_file_llseek|touch_atime|atime_needs_update|pread|fsnotify|security_file|"
    r"fcntl|f_dupfd|alloc_fd|fd_install|file_close|filp_|locks_remove|_llseek|sys_close"
)
FAULT = re.compile(
    r"clear_(page|huge|folio|subpage)|fault|do_anonymous_page|folio|lru|memcg|mem_cgroup|charge|alloc_pages|__alloc_frozen|"
    r"get_page_from_freelist|rmqueue|prep_new_page|^filemap_map|map_pages|^(__)?p(te|md|ud|4d|gd)_|lock_vma|mt_find|mas_walk|"
    r"sync_regs|error_entry|error_return|wp_page|vma_alloc|alloc_anon|cgroup_throttle"
)


def column(of, symbol):
    # The kernel and its modules are in brackets; so are these two, which are not of it.
    if of.startswith("[") and of not in ("[vdso]", "[unknown]"):
        for pattern, name in ((BACK, "other kernel"), (READING, "reading"), (FAULT, "page faults")):
            if pattern.search(symbol):
                return name
        return "other kernel"
    if COPY.search(symbol) and of.startswith(("libc.", "libc-", "ld-musl")):
        return "copies"
    return "codec" if CODEC.search(symbol) else "decode"


counts = dict.fromkeys(COLUMNS, 0)
for line in sys.stdin:
    if line.startswith("#") or line.count("|") < 2:
        continue
    samples, of, symbol = (part.strip() for part in line.split("|", 2))
    # "[k] name": where it ran is told by the object.
    counts[column(of, symbol.split("] ", 1)[-1])] += int(samples)
total = sum(counts.values())
if total == 0:
    sys.exit("perf recorded nothing")
print(" | ".join(f"{100 * counts[name] / total:.1f}" for name in COLUMNS), "|", total, "|")
PYTHON

# Seconds of the best of some scans: SIDE FILE
best() {
    python3 - "$rounds" "$bench" memory-of "$1" "$2" <<'PYTHON'
import subprocess
import sys
import time

times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
    times.append(time.perf_counter() - start)
print(f"{min(times):.3f}")
PYTHON
}

# The samples of some scans, a line for each function: SIDE FILE
samples() {
    for _ in $(seq "$rounds"); do
        perf record -q -F 15000 -o "$work/perf.data" -- "$bench" memory-of "$1" "$2" >/dev/null 2>"$work/said" ||
            { cat "$work/said" >&2; return 1; }
        perf report -i "$work/perf.data" --stdio --no-inline -F sample,dso,sym -t '|' 2>/dev/null
    done
}

echo "CPU: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo
echo "| file | side | seconds | codec | page faults | reading | copies | other kernel | decode | samples |"
echo "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
for file in "$@"; do
    cat -- "$file" >/dev/null
    for side in peer ours; do
        seconds=$(best "$side" "$file")
        samples "$side" "$file" >"$work/samples"
        echo "| $(basename "$file") | $side | $seconds | $(python3 "$work/classify.py" <"$work/samples")"
    done
done
