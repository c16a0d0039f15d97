"""What `verify --deep` says of files that others and we have written: nothing, or what is known and right."""

import json
import subprocess

# The beginning of a file's name, a rule, and why it is right.
KNOWN = [
    ("pyarrow-DELTA_BYTE_ARRAY-", "size-statistics-suffixes", "counts the suffixes of strings, not the strings"),
    ("pyarrow-old-lists-", "list-legacy", "was asked for names of before 2017"),
    ("fastparquet-LZ4-", "chunk-codec-deprecated", "knows only the LZ4 whose framing was never defined"),
]


# Of our own: the matrix has every encoding, type, codec, nesting and kind of page that we write.
PARTS = ("matrix", "filters", "theirs", "changes")


def check(cli, root):
    """(writer, case, failure) for each finding in the files below a folder, and `None` for a file without."""
    files = sorted(path for part in PARTS for path in (root / part).rglob("*.parquet"))
    results, left = [], list(map(str, files))
    while left:
        command = [cli, "verify", "--deep", "--format", "json", *left[:500]]
        done = subprocess.run(command, capture_output=True, text=True)
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(reports) == len(left[:500]), done.stderr
        left = left[500:]
        for report in reports:
            name = report["file"].rsplit("/", 1)[-1]
            is_known = lambda rule: any(name.startswith(begin) and rule == known for begin, known, _ in KNOWN)
            unknown = [finding for finding in report["findings"] if not is_known(finding["rule"])]
            writer = name.split("-")[0] if "theirs" in report["file"].split("/") else "marquetry"
            for finding in unknown:
                case = {"file": name, "column": finding["column"], "part": "verify"}
                results.append((writer, case, f"{finding['rule']}: {finding['message']}"))
            if not unknown:
                results.append((writer, {"file": name, "part": "verify"}, None))
    return results
