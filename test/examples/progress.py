#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""progress.py PGZ: on a terminal it shows how far it is, how long it will take, and who
is the bottleneck, in one line that goes when it ends; elsewhere it shows nothing. With
--inspect it can be asked."""

import gzip
import os
import pty
import re
import select
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
SIZE = 4 << 20


def start(text, stderr, *arguments):
    # nobody reads what it writes: so it comes to a halt behind the first block, of
    # two that a pipe has room for
    return subprocess.Popen([PROGRAM, *arguments, "-b", "32", "-"], stdin=text, stderr=stderr,
                            stdout=subprocess.PIPE)


def read_until(fd, pattern):
    said = b""
    until = time.monotonic() + 60
    while not re.search(pattern, said):
        assert time.monotonic() < until, said[-1000:]
        ready, _, _ = select.select([fd], [], [], 60)
        assert ready, said
        said += os.read(fd, 65536)
    return said


def ends(program, text):
    packed = program.stdout.read()
    assert program.wait(60) == 0
    program.stdout.close()
    assert gzip.decompress(packed) == text


def a_terminal_shows_progress(file, text):
    outer, inner = pty.openpty()
    program = start(file, inner)
    said = read_until(outer, rb"\r[1-9]\d* bytes, \d+/s, \d+%, \d+ s left; "
                             rb"standard output[^;]* runs \d+%\x1b\[K")
    assert b"\n" not in said, said
    ends(program, text)
    assert read_until(outer, rb"\r\x1b\[K$").count(b"\n") == 0
    os.close(inner)
    os.close(outer)


def a_pipe_shows_nothing(file, text):
    program = start(file, subprocess.PIPE)
    ends(program, text)
    assert program.stderr.read() == b""
    program.stderr.close()


def it_can_be_asked(file, text):
    program = start(file, subprocess.PIPE, "--inspect")
    path = program.stderr.readline().decode().split()[-1]
    said = ""
    while "compress" not in said and "standard output" not in said:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(path)
            asking.sendall(b"json\n")
            said = asking.makefile().read()
    ends(program, text)
    assert not os.path.exists(path)
    program.stderr.close()


def main():
    text = os.urandom(SIZE)
    with tempfile.TemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        file.write(text)
        for test in a_terminal_shows_progress, a_pipe_shows_nothing, it_can_be_asked:
            file.seek(0)
            test(file, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
