"""Runs a command with a gibibyte of address space and some seconds of the processor, and keeps what took the most."""

import math
import os
import resource
import signal
import subprocess
import tempfile
import time

GIB = 1 << 30
COMMANDS = [
    ["schema"], ["meta"], ["meta", "--format", "json"], ["pages"], ["pages", "--format", "json"], ["index"], ["index", "--format", "json"],
    ["report", "IN", "-o", "OUT.html"],
    ["size"], ["size", "--format", "json"], ["stats"], ["stats", "--quick", "--format", "json"], ["lint"],
    ["advise", "--budget", "2s"], ["optimize", "--budget", "2s", "IN", "OUT.parquet"],
    ["diff", "IN", "IN"], ["diff", "--rows", "IN", "IN"], ["dictionary", "-c", "COLUMN"], ["head"], ["head", "--format", "json"], ["cat"],
    ["cat", "--format", "json"], ["cat", "--on-corrupt", "skip-page", "--format", "json"], ["count"], ["verify"], ["verify", "--deep"],
    ["convert", "IN", "OUT.parquet"], ["convert", "IN", "OUT.arrow"], ["convert", "IN", "OUT.csv"],
    ["convert", "IN", "OUT.parquet", "--memory-limit", "100MiB"], ["rewrite", "--statistics", "IN", "OUT.parquet"],
    ["rewrite", "--statistics", "--compression", "zstd:1", "--add-index", "IN", "OUT.parquet"], ["merge", "IN", "OUT.parquet"],
    ["split", "--rows", "2", "IN", "--out-dir", "DIR"], ["recover", "IN", "OUT.parquet"],
]


def run(marquetry, words, seconds, cap):
    def limits():
        if cap:
            resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))
        # Its time, not that of others on a busy machine.
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin, pause = time.monotonic(), 0.0005
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [marquetry, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limits, env=os.environ | {"RUST_BACKTRACE": "0"}
        )
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            # A command that waits for ever takes no time.
            if time.monotonic() - begin > 60 * seconds:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                return "time", usage, ""
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "time", usage, ""
        errors.seek(0)
        return child.returncode, usage, errors.read(2000).decode(errors="replace").strip().split("\n")[0]


class Runs:
    """What ran, and what failed: a command may end with 0, 1 or 2."""

    def __init__(self):
        self.all, self.failed = [], 0

    def add(self, code, usage, error, what):
        seconds, mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10
        self.all.append((mib, seconds, code, what))
        panicked = "panicked at" in error
        if code not in (0, 1, 2) or panicked:
            self.failed += 1
            print(f"FAILED {'panic' if panicked else code}: {what}, {mib} MiB, {seconds:.1f} s: {error[:200]}", flush=True)
            return False
        return True

    def print(self):
        codes = {code: sum(1 for run in self.all if run[2] == code) for code in (0, 1, 2)}
        print(f"{len(self.all)} runs, {self.failed} failed; exit codes {codes}")
        for name, key in [("memory", 0), ("time", 1)]:
            print(f"most {name}:")
            for mib, seconds, code, what in sorted(self.all, key=lambda run: -run[key])[:10]:
                print(f"  {mib:5} MiB {seconds:6.1f} s  exit {code}  {what}")
