"""The command line: ``marquetry``, or ``python -m marquetry``."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command in ``sys.argv`` and returns its exit code."""
    from . import _marquetry

    try:
        command_line = _marquetry.command_line
    except AttributeError:
        print("marquetry: this build of the package has no command line", file=sys.stderr)
        return 2
    return command_line(["marquetry", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
