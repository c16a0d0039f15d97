"""The shell of SQL in a pseudo terminal: what it answers, and that it ends without a word when the reader of its output leaves.

    python3 .ci/datafusion/shell.py target/debug/marquetry-sql
"""

import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

# Bracketed paste is on while the shell reads a line.
PROMPT = b"\x1b[?2004h"
WINES = pathlib.Path("examples/wines.parquet").resolve()


class Shell:
    """The command with its input in a pseudo terminal, and its output in a pipe."""

    def __init__(self, command, home):
        self.keys, terminal = pty.openpty()
        self.output, output = os.pipe()
        self.process = subprocess.Popen(
            [command], stdin=terminal, stdout=output, stderr=subprocess.PIPE, env=dict(os.environ, HOME=home, TERM="xterm")
        )
        os.close(terminal)
        os.close(output)
        self.shown = b""

    def type(self, line):
        os.write(self.keys, line.encode() + b"\n")

    def ask(self, line, answer):
        """Types a line, and waits for the answer and the next prompt: keys that are pressed before it may be dropped."""
        self.shown = b""
        self.type(line)
        self.wait_for(answer)
        self.wait_for(PROMPT)

    def wait_for(self, text):
        end = time.monotonic() + 30
        while text not in self.shown:
            if time.monotonic() > end:
                sys.exit(f"{text!r} was not shown: {self.shown!r}")
            if select.select([self.output], [], [], 0.1)[0]:
                self.shown += os.read(self.output, 65536)

    def end(self):
        """Returns the exit code, minus the signal, and what is on standard error."""
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("the shell does not end")
        return self.process.returncode, self.process.stderr.read()


def it_answers(command, home):
    shell = Shell(command, home)
    shell.wait_for(b"\\? for help.")
    shell.wait_for(PROMPT)
    for line, answer in [
        ("\\timing", b"timing is on"),
        (f"create external table wines stored as parquet location '{WINES}';", b" s\n"),
        ("select count(*) + 4000", b". "),
        ("from wines;", b" 4200 |"),
        ("\\d", b"wines"),
        ("\\d wines", b"grapes"),
        ("\\?", b"Ctrl-D"),
    ]:
        shell.ask(line, answer)
    shell.ask("select nothing;", b"")
    shell.type("\\q")
    code, errors = shell.end()
    if code != 0 or b"nothing" not in errors:
        sys.exit(f"an error does not end the shell: {code}, {errors!r}")


def it_ends_with_its_reader(command, home):
    for line in ["\\?", "\\timing", "\\d", f"select * from '{WINES}';", "select 1"]:
        shell = Shell(command, home)
        shell.wait_for(PROMPT)
        os.close(shell.output)
        shell.type(line)
        ended = shell.end()
        if ended != (-signal.SIGPIPE, b""):
            sys.exit(f"{line}: {ended}, and should end by SIGPIPE, as `cat` does")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        it_answers(sys.argv[1], home)
        it_ends_with_its_reader(sys.argv[1], home)
