"""Fails if the sources of a build without `fs` and `threads` name files, threads or clocks.

Standard input: cargo's JSON messages of the build. Which sources were compiled is in the `.d` file beside each library.
"""

import json
import pathlib
import re
import sys

NAMED = re.compile(
    r"\bstd::(fs|thread|net|process|os)\b|\benv::(temp_dir|current_dir|home_dir|args)\b|\bInstant::|\bSystemTime\b|\bthread::|\btempfile::"
    r"|\b(path|folder|directory)\.(exists|is_file|is_dir|canonicalize|read_dir)\(\)"
)
OURS = pathlib.Path(__file__).resolve().parent.parent / "crates"


def code(text):
    """Without comments and tests, which are at the end of a file."""
    text = re.sub(r"#\[cfg\(test\)\]\s*(pub(\(\w+\))? )?mod \w+;", "", text)
    text = text.split("#[cfg(test)]")[0]
    return [line.split("//")[0] for line in text.splitlines()]


def sources(library):
    library = pathlib.Path(library)
    listed = library.with_name(library.name.removeprefix("lib")).with_suffix(".d").read_text()
    first = listed.split("\n\n")[0].replace("\\\n", " ").split(": ", 1)[1].splitlines()[0]
    return [pathlib.Path(name).resolve() for name in first.split() if name.endswith(".rs")]


found, looked_at, crates = [], 0, set()
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reason") != "compiler-artifact" or OURS not in pathlib.Path(message["manifest_path"]).parents:
        continue
    crates.add(message["target"]["name"])
    for path in {path for library in message["filenames"] for path in sources(library)}:
        looked_at += 1
        for number, text in enumerate(code(path.read_text()), 1):
            if NAMED.search(text):
                found.append(f"{path.relative_to(OURS)}:{number}: {text.strip()}")
print("\n".join(sorted(found)))
if len(crates) < 8 or looked_at < 200:
    sys.exit(f"only {looked_at} sources of {len(crates)} crates were compiled")
print(f"{looked_at} sources of {len(crates)} crates, {len(found)} lines with what must not be there")
sys.exit(bool(found))
