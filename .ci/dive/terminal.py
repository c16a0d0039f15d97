"""dive in a pseudo terminal: it shows the file, and gives the terminal back as it was, however it ends.

    python3 .ci/dive/terminal.py target/debug/marquetry
"""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

FILE = "examples/wines.parquet"


class Terminal:
    """The command in a pseudo terminal of 80 x 24."""

    def __init__(self, command, environment=None):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        environment = dict(os.environ, TERM="xterm-256color") | (environment or {})
        self.process = subprocess.Popen(
            command, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment, start_new_session=True
        )

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                self.shown += os.read(self.master, 65536)

    def wait_for(self, text):
        for _ in range(100):
            self.read(0.1)
            if text in self.shown:
                return
        sys.exit(f"{text!r} was not shown: {self.shown!r}")

    def press(self, keys):
        os.write(self.master, keys)

    def end(self, name, code):
        for _ in range(100):
            self.read(0.1)
            if self.process.poll() is not None:
                break
        else:
            self.process.kill()
            sys.exit(f"{name}: dive did not end")
        self.read(0.2)
        assert self.process.returncode == code, f"{name}: exit code {self.process.returncode}: {self.shown!r}"
        assert termios.tcgetattr(self.slave) == self.before, f"{name}: the terminal is another"
        for sequence in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l"):
            assert sequence in self.shown, f"{name}: {sequence!r} is missing"


def main():
    marquetry = sys.argv[1]
    dive = [marquetry, "dive", FILE]
    terminal = Terminal(dive)
    terminal.wait_for(b"groups")
    terminal.press(b"\r")
    terminal.wait_for(b"repetition")
    terminal.press(b"y")
    terminal.wait_for(b"\x1b]52;c;")
    # A click on the third row, with the mouse as terminals tell it.
    terminal.press(b"\x1b[<0;5;6M")
    fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 40, 0, 0))
    os.kill(terminal.process.pid, signal.SIGWINCH)
    terminal.read(0.3)
    terminal.press(b"q")
    terminal.end("q", 0)

    terminal = Terminal(dive)
    terminal.wait_for(b"groups")
    terminal.press(b"\x03")
    terminal.end("Ctrl-C", 0)

    terminal = Terminal(dive)
    terminal.wait_for(b"groups")
    terminal.process.send_signal(signal.SIGTERM)
    terminal.end("SIGTERM", -signal.SIGTERM)

    # A terminal that is closed, of which no signal tells: dive ends, instead of reading its end again and again.
    terminal = Terminal(dive)
    terminal.wait_for(b"groups")
    os.close(terminal.slave)
    os.close(terminal.master)
    try:
        assert terminal.process.wait(5) != 0
    except subprocess.TimeoutExpired:
        terminal.process.kill()
        sys.exit("dive did not end with its terminal")

    terminal = Terminal(dive, {"NO_COLOR": "1"})
    terminal.wait_for(b"groups")
    assert b"38;5;4" not in terminal.shown, terminal.shown
    terminal.press(b"q")
    terminal.end("NO_COLOR", 0)

    refused = subprocess.run(dive, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    assert refused.returncode == 2 and "explain" in refused.stderr and not refused.stdout, refused
    print("dive: the terminal is given back after q, Ctrl-C and SIGTERM; without one it ends")


main()
