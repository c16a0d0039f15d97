"""What other libraries are known not to read, and whether that is still so."""

import re
import tomllib
from pathlib import Path

FILE = Path(__file__).parent / "known.toml"
DIMENSIONS = ("column", "encoding", "codec", "version", "nulls", "nesting", "file")


def load():
    """The entries, with the sets of names that they mention spelled out."""
    known = tomllib.loads(FILE.read_text())
    entries = known["known"]
    for entry in entries:
        unknown = set(entry) - {"peer", "says", "what", "part", "sometimes", "quote", "again", *DIMENSIONS}
        assert not unknown, f"known.toml: {unknown}"
        for name in DIMENSIONS:
            if isinstance(entry.get(name), str):
                entry[name] = known["sets"][entry[name]]
    return entries


def is_about(entry, peer, case):
    """Whether an entry is about a case: all it names must fit."""
    if entry["peer"] != peer or entry.get("part", "matrix") != case.get("part", "matrix"):
        return False
    return all(case.get(name) in entry[name] for name in DIMENSIONS if name in entry)


def says(entry, failure):
    """Whether the message is one of those of the entry. An entry without messages has too many to be listed."""
    return not entry.get("says") or any(text in failure for text in entry["says"])


class Ledger:
    """Failures, sorted into those that are known and those that are not."""

    def __init__(self, peers, parts, is_quick=False):
        self.is_quick = is_quick
        entries = load()
        self.entries = [e for e in entries if e["peer"] in peers and e.get("part", "matrix") in parts]
        self.seen = [0] * len(self.entries)
        self.passed = [[] for _ in self.entries]
        self.unexpected = []
        self.counts = {}

    def note(self, peer, group, case, failure):
        """Counts a case: `failure` is its message, or None. `group` is the row of the summary."""
        about = [i for i, entry in enumerate(self.entries) if is_about(entry, peer, case)]
        count = self.counts.setdefault((group, peer), [0, 0, 0])
        if failure is None:
            count[0] += 1
            for i in about:
                self.passed[i].append(case)
            return
        fitting = [i for i in about if says(self.entries[i], failure)]
        for i in fitting:
            self.seen[i] += 1
        count[1 if fitting else 2] += 1
        if not fitting:
            self.unexpected.append((peer, case, failure))

    def stale(self):
        """Entries that never failed, and those that something passed in spite of, unless they fail sometimes only.

        A quick run may not have tried what is known of the matrix."""
        is_tried = lambda entry: not self.is_quick or entry.get("part", "matrix") != "matrix"
        noted = zip(self.entries, self.seen, self.passed)
        return [
            (entry, passed[0] if passed else None)
            for entry, seen, passed in noted
            if (not seen and is_tried(entry)) or (passed and not entry.get("sometimes"))
        ]

    def print_summary(self):
        peers = list(dict.fromkeys(peer for _, peer in self.counts))
        groups = list(dict.fromkeys(group for group, _ in self.counts))
        print(f"\n{'columns: right / known / WRONG':32}" + "".join(f"{peer:>22}" for peer in peers))
        for group in groups:
            cells = [self.counts.get((group, peer)) for peer in peers]
            texts = ["" if cell is None else f"{cell[0]} / {cell[1]} / {cell[2]}" for cell in cells]
            print(f"{group:32}" + "".join(f"{text:>22}" for text in texts))

    def print_unexpected(self, most=60):
        """The unexpected ones that have the same message together, with what they have in common."""
        groups = {}
        for peer, case, failure in self.unexpected:
            alike = re.sub(r"[0-9]+|'.*?'|row .*", "#", failure)
            groups.setdefault((peer, alike), (failure, []))[1].append(case)
        for (peer, _), (failure, cases) in list(groups.items())[:most]:
            print(f"\n{peer}: {failure}  ({len(cases)} columns)")
            for name in (*DIMENSIONS, "part"):
                values = sorted({str(case[name]) for case in cases if name in case})
                if values and name != "file":
                    print(f"    {name}: {', '.join(values[:60])}")
            print(f"    as in {cases[0].get('file')}")
        if len(groups) > most:
            print(f"\nand {len(groups) - most} other messages")
        for entry, passed in self.stale():
            why = f"succeeds now, as for {passed}" if passed else "was not tried"
            print(f"\nknown.toml: {entry['peer']}: {entry['what']}: {why}")
