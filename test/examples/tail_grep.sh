#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tail_grep.sh PROGRAM: a listener gets the lines with the text, each once, from two
# files that are written, rotated and truncated meanwhile; on SIGTERM it gets the rest,
# and the end. A server that goes away, or is not there, is an error. Skipped where a
# machine has not even a loopback device.
set -eu

exec python3 - "$1" <<'PYTHON'
import os
import signal
import socket
import subprocess
import sys
import tempfile

listener = socket.socket()
try:
    listener.bind(("127.0.0.1", 0))
except OSError:
    sys.exit(77)
listener.listen()
address = "127.0.0.1:%d" % listener.getsockname()[1]


def start(*files, **options):
    return subprocess.Popen([sys.argv[1], address, "yes", *files], **options)


def append(name, text):
    with open(name, "a") as file:
        file.write(text)


class Receiver:
    """Lines that come, in the order of each file."""

    def __init__(self):
        self.socket, _ = listener.accept()
        self.socket.settimeout(50)
        self.rest, self.got = b"", {"a": [], "b": []}

    def lines(self):
        data = self.socket.recv(65536)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            file, number, yes = line.decode().split()
            assert yes == "yes", line
            self.got[file].append(int(number))
        return data

    def until(self, file, number):
        while not self.got[file] or self.got[file][-1] < number:
            assert self.lines()


with tempfile.TemporaryDirectory() as folder:
    files = {name: os.path.join(folder, name) for name in "ab"}
    append(files["a"], "a 0 yes\na 0 no\n")
    program = start(files["a"], files["b"])
    receiver = Receiver()
    receiver.until("a", 0)
    last = {"a": 0, "b": -1}
    for round in range(20):
        for name, path in files.items():
            for _ in range(300):
                last[name] += 1
                append(path, f"{name} {last[name]} yes\n{name} {last[name]} no\n")
            receiver.until(name, last[name])
        if round % 2:
            os.rename(files["a"], files["a"] + ".1")
        else:
            os.truncate(files["b"], 0)
            # so that it is noticed before the file is as long again
            last["b"] += 1
            append(files["b"], f"b {last['b']} yes\n")
            receiver.until("b", last["b"])
    append(files["a"], f"a {last['a'] + 1} yes\n")
    receiver.until("a", last["a"] + 1)
    program.send_signal(signal.SIGTERM)
    while receiver.lines():
        pass
    assert program.wait() == 0
    assert receiver.rest == b""
    assert receiver.got["a"] == list(range(last["a"] + 2)), receiver.got["a"]
    assert receiver.got["b"] == list(range(last["b"] + 1)), receiver.got["b"]

    program = start(files["a"], stderr=subprocess.PIPE, text=True)
    receiver = Receiver()
    receiver.lines()
    listener.close()
    receiver.socket.close()
    append(files["a"], "a 1 yes\n" * 100000)
    assert program.wait() != 0
    assert program.stderr.read().startswith("tail_grep: "), "no message"
    program = start(files["a"], stderr=subprocess.PIPE, text=True)
    assert program.wait() != 0
    assert "refused" in program.stderr.read()
PYTHON
