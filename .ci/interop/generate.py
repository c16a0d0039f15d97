"""Has the example `interop` write files, of which it prints a line of JSON each."""

import json
import subprocess


def generate(binary, *args):
    done = subprocess.run([binary, *args], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
