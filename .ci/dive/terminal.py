"""dive, and text page by page, in a pseudo terminal: it shows what it should, and gives the terminal back as it was, however it ends.

    python3 .ci/dive/terminal.py target/debug/marquetry
"""

import contextlib
import fcntl
import http.server
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

FILE = "examples/wines.parquet"
# Where the cursor is led to; other sequences; a character.
SHOWN = re.compile(r"\x1b\[(\d+;\d+)H|\x1b[\[\]][^A-Za-z\a]*[A-Za-z\a]|([^\x00-\x1f])")


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

    def screen(self):
        """The lines that are seen: what was written, where the cursor was led to."""
        cells = [[" "] * 80 for _ in range(24)]
        row = column = 0
        for place, text in SHOWN.findall(self.shown.decode("utf-8", "replace")):
            if place:
                row, column = (int(number) - 1 for number in place.split(";"))
            elif text:
                if row < 24 and column < 80:
                    cells[row][column] = text
                column += 1
        return "\n".join("".join(line).rstrip() for line in cells)

    def wait_to_see(self, *texts):
        for _ in range(100):
            self.read(0.1)
            screen = self.screen()
            if all(text in screen for text in texts):
                return screen
        sys.exit(f"{texts} are not seen:\n{screen}")

    def press(self, keys):
        os.write(self.master, keys)

    def ended(self, name):
        """It ends by itself, and well."""
        for _ in range(300):
            self.read(0.1)
            if self.process.poll() is not None:
                break
        else:
            self.process.kill()
            sys.exit(f"{name}: the command did not end: {self.shown!r}")
        assert self.process.returncode == 0, f"{name}: exit code {self.process.returncode}: {self.shown!r}"

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


@contextlib.contextmanager
def server(content, seconds):
    """A file on a web server that takes so long for each request; and the ranges that it was asked for."""
    ranges = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(b"")

        def do_GET(self):
            time.sleep(seconds)
            self.answer(content)

        def answer(self, body):
            wanted = self.headers.get("Range", "").removeprefix("bytes=")
            first, _, last = wanted.partition("-")
            start = int(first) if first else max(0, len(content) - int(last or len(content)))
            end = min(int(last) + 1, len(content)) if first and last else len(content)
            if body:
                ranges.append(range(start, end))
            self.send_response(206 if wanted else 200)
            if wanted:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - start))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            self.wfile.write(body[start:end])

        def log_message(self, *_):
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/wines.parquet", ranges
    serving.shutdown()


def large_file(marquetry):
    """So large that its rows do not come with its footer."""
    with tempfile.TemporaryDirectory() as folder:
        large = str(pathlib.Path(folder, "large.parquet"))
        subprocess.run([marquetry, "convert", *[FILE] * 1000, large, "--report=none", "--compression=uncompressed"], check=True)
        return pathlib.Path(large).read_bytes()


def over_http(marquetry, content):
    """From the first screen to a page, its bytes and its values, over a URL: of the file no more is read than what is seen."""
    footer = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    with server(content, 0) as (url, ranges):
        terminal = Terminal([marquetry, "dive", url])

        def asked_for():
            """What the server was asked for since the last time."""
            asked, ranges[:] = list(ranges), []
            return asked

        terminal.wait_to_see("row groups", "200,000", "written by")
        terminal.press(b"\r")
        terminal.wait_to_see("repetition", "BYTE_ARRAY (STRING)")
        terminal.press(b"\x1b")
        terminal.wait_to_see("written by")
        terminal.press(b"j\r")
        terminal.wait_to_see("first byte")
        terminal.press(b"\r")
        terminal.wait_to_see("country", "rating")
        # The chunk's facts are in the footer.
        terminal.press(b"j\r")
        terminal.wait_to_see("dictionary page at")
        asked = asked_for()
        assert 1 <= len(asked) <= 2, f"the footer takes {asked}"
        assert sum(map(len, asked)) <= len(content) - footer + (64 << 10), f"a footer of {len(content) - footer} bytes: {asked}"
        terminal.press(b"\r")
        terminal.wait_to_see("DICTIONARY_PAGE", "DATA_PAGE")
        terminal.press(b"j\r")
        terminal.wait_to_see("bit width")
        terminal.press(b"x")
        terminal.wait_to_see("hexadecimal", "ance....Austria")
        terminal.press(b"\x1b")
        terminal.wait_to_see("bit width")
        terminal.press(b"\x1b")
        terminal.wait_to_see("DICTIONARY_PAGE")
        terminal.press(b"kv")
        terminal.wait_to_see("Austria")
        asked = asked_for()
        # Ten headers of pages, a page, the bytes around it, and the page of the dictionary.
        assert asked and len(asked) <= 16, f"pages take {asked}"
        assert sum(map(len, asked)) < len(content) // 4, f"of {len(content)} bytes: {asked}"
        terminal.press(b"q")
        terminal.end("over http", 0)


def pages(marquetry):
    """Long text goes through a pager, which ends when its user says so; short text, and text to pipes, does not."""
    cat = [marquetry, "cat", FILE]
    # Marks its lines, and stays until a line is typed.
    pager = "#!/bin/sh\nsed 's/^/paged: /'\necho waits\nread line <&2\n"
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "pager")
        script.write_text(pager)
        script.chmod(0o755)
        named = {"MARQUETRY_PAGER": str(script), "PAGER": "false"}
        terminal = Terminal(cat, named)
        terminal.wait_for(b"waits")
        assert terminal.shown.count(b"paged: ") > 150, terminal.shown
        assert terminal.process.poll() is None, "the pager was not waited for"
        terminal.press(b"\n")
        terminal.ended("pager")
        for command, environment in [
            (cat, {"PAGER": "cat"}),
            (cat, {"MARQUETRY_PAGER": ""} | {"PAGER": str(script)}),
            (cat, {"PAGER": str(script), "TERM": "dumb"}),
            ([*cat, "--no-pager"], named),
            ([*cat, "--format", "json"], named),
            ([marquetry, "count", FILE], named),
            (cat, {"PAGER": "/no/such/pager"}),
        ]:
            terminal = Terminal(command, environment)
            terminal.ended(str(environment))
            assert b"paged" not in terminal.shown and terminal.shown.strip(), (command, environment, terminal.shown)
        piped = subprocess.run(cat, env=dict(os.environ) | named, capture_output=True, check=True, timeout=60)
        assert b"paged" not in piped.stdout and piped.stdout


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

    pages(marquetry)

    content = large_file(marquetry)
    over_http(marquetry, content)

    # A server that takes its time: something moves meanwhile, and the screen is whole afterwards.
    with server(content, 0.5) as (url, _):
        terminal = Terminal([marquetry, "dive", url])
        terminal.wait_for(b"groups")
        terminal.shown = b""
        terminal.press(b"jjj\r")
        terminal.wait_for(b"reading, ")
        terminal.wait_for(b"Riesling")
        terminal.press(b"q")
        terminal.end("slow server", 0)

    refused = subprocess.run(dive, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    assert refused.returncode == 2 and "explain" in refused.stderr and not refused.stdout, refused
    print("dive: the terminal is given back after q, Ctrl-C and SIGTERM; without one it ends. Long text is paged")


main()
