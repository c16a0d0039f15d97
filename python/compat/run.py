"""Runs tests of others on ``marquetry.parquet``, put in the place of ``pyarrow.parquet``: pyarrow's own of Parquet, or those of pandas.

    python compat/run.py [--suite pandas] [--data ../../shared/parquet-testing/data] [arguments of pytest]

The tests are those of the installed pyarrow and pandas; none are copied. Prints how many pass, fail and do not apply, and each that fails,
with its reason in ``reasons.txt`` or ``reasons-pandas.txt``. The exit code is 1 if one fails that has no reason there, or one passes that has.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent

# Packages with tests, and the file of reasons of each.
SUITES = {"pyarrow": ("pyarrow.tests.parquet", "reasons.txt"), "pandas": ("pandas.tests.io.test_parquet", "reasons-pandas.txt")}


def reasons(name: str) -> dict[str, str]:
    """Patterns of tests that are known to fail, and why."""
    lines = (HERE / name).read_text().splitlines()
    pairs = (line.split(" | ", 1) for line in lines if line and not line.startswith("#"))
    return {pattern.strip(): why.strip() for pattern, why in pairs}


def outcomes(package: str, data: str, arguments: list[str]) -> dict[str, str]:
    """The outcome of each test."""
    path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYARROW_TEST_SLOW": "1", "PARQUET_TEST_DATA": data}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "swap", "-p", "no:cacheprovider", f"--junitxml={report}"]
        # Not in the folder of pyarrow or pandas, whose modules would hide those of Python.
        subprocess.run(
            [*command, "--pyargs", package, *arguments],
            env=environment, cwd=folder, check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        found = {}
        for case in ElementTree.parse(report).iter("testcase"):
            kinds = {child.tag for child in case}
            parts = case.get("classname", "").split(".")
            module = next((part for part in parts if part.startswith("test_")), parts[-1])
            name = f"{module}::{case.get('name')}"
            failed = bool(kinds & {"failure", "error"})
            found[name] = "failed" if failed else "not applicable" if "skipped" in kinds else "passed"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(HERE.parents[2] / "shared" / "parquet-testing" / "data"))
    parser.add_argument("--suite", choices=SUITES, default="pyarrow", help="whose tests; default %(default)s")
    options, arguments = parser.parse_known_args()
    package, names = SUITES[options.suite]
    found = outcomes(package, str(pathlib.Path(options.data).resolve()), arguments)
    known = reasons(names)
    wrong = 0
    for name, outcome in sorted(found.items()):
        why = next((why for pattern, why in known.items() if re.match(pattern, name)), None)
        if outcome == "failed":
            print(f"failed: {name}: {why or 'NO REASON IS KNOWN'}")
        if (outcome == "failed") != (why is not None) and outcome != "not applicable":
            wrong += outcome == "failed"
            if outcome == "passed":
                print(f"passes, though a reason is given why it does not: {name}")
                wrong += 1
    counts = {kind: sum(outcome == kind for outcome in found.values()) for kind in ("passed", "failed", "not applicable")}
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    applicable = counts["passed"] + counts["failed"]
    print(f"{counts['passed']} of {applicable} pass, {100 * counts['passed'] / max(applicable, 1):.1f} %")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
