"""Writes the section "Read by others" of COVERAGE.md from known.toml, or checks that it is up to date.

    coverage.py --write
    coverage.py --check
"""

import re
import sys
from pathlib import Path

import known

FOLDER = Path(__file__).parent
COVERAGE = FOLDER.parent.parent / "COVERAGE.md"
TITLE = "## Read by others"

PREFACE = """\
The matrix of `.ci/interop/run.sh`: every encoding, type, codec, page version, nesting and kind of nulls, each value compared; then
statistics and filters; then their files, read by us; our files with checkpoints, and changed in place (`append`, `meta set`,
`drop-row-group`), read as plain ones; and all of these, ours and theirs, verified. Their files, broken and recovered, come in
`.ci/nightly`. What is not in this table they read right. Spark is tried by `.ci/interop/spark.sh`, outside of CI. The table is made by `.ci/interop/coverage.py --write` from `.ci/interop/known.toml`.
"""


def versions():
    pinned = re.findall(r"^(\w+)==(\S+)$", (FOLDER / "requirements.txt").read_text(), re.M)
    spark = re.search(r"pyspark==(\S+)", (FOLDER / "spark.sh").read_text())
    return {**dict(pinned), "spark": spark[1]}


def section():
    entries = known.load()
    versions_of = versions()
    lines = [TITLE, "", PREFACE, "| library | what it does not read right | what it says |", "|---|---|---|"]
    for entry in entries:
        if not entry.get("again"):
            quote = entry.get("quote", "").replace("`", "'").replace("|", "/")
            says = f"`{quote}`" if quote else ""
            lines.append(f"| {entry['peer']} {versions_of[entry['peer']]} | {entry['what']} | {says} |")
    return "\n".join(lines) + "\n"


def main():
    text = COVERAGE.read_text()
    found = re.search(rf"^{TITLE}$.*?(?=^## |\Z)", text, re.M | re.S)
    wanted = section()
    if sys.argv[1:] == ["--write"]:
        before, after = (text[: found.start()], text[found.end() :]) if found else (text.rstrip("\n") + "\n\n", "")
        COVERAGE.write_text(before + wanted + ("\n" if after else "") + after)
    elif sys.argv[1:] == ["--check"]:
        if not found or found[0].rstrip("\n") != wanted.rstrip("\n"):
            sys.exit("COVERAGE.md is out of date: .ci/interop/coverage.py --write")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
