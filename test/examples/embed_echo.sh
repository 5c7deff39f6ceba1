#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# embed_echo.sh PROGRAM: the server that runs in another library's loop sends all that it
# gets back, byte by byte; a client that takes nothing is not read from, and holds up
# nobody; there is one thread, which sleeps when there is nothing to do; and the program
# ends well with its last client.
set -eu

exec python3 - "$1" <<'EOP'
import atexit
import random
import socket
import subprocess
import sys

SIZE = 8_000_000

# Without a file: the name of a folder may be too long.
name = "weir-embed-" + "".join(random.choices("0123456789abcdef", k=16))
server = subprocess.Popen([sys.argv[1], f"unix:@{name}"], stdout=subprocess.PIPE,
                          text=True)
atexit.register(server.kill)
assert server.stdout.readline() == f"unix:@{name}\n"


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect("\0" + name)
    return client


def status():
    with open(f"/proc/{server.pid}/status") as file:
        return dict(line.split(":\t", 1) for line in file)


def asleep():
    """As soon as there is nothing to do; a loop that is always woken never is."""
    while not status()["State"].startswith("S"):
        pass
    assert status()["Threads"].strip() == "1"


def say(client, text):
    client.sendall(text)
    answer = b""
    while len(answer) < len(text):
        piece = client.recv(4096)
        assert piece, "the server has ended"
        answer += piece
    assert answer == text


asleep()
talks, mute = connect(), connect()
say(talks, b"one")
asleep()

text = random.Random(1).randbytes(SIZE)
mute.setblocking(False)
sent = stuck = 0
while stuck < 10 and sent < SIZE:
    try:
        sent += mute.send(text[sent:sent + 65536])
        stuck = 0
    except BlockingIOError:
        stuck += 1
        say(talks, b"two")
assert stuck == 10, "the server does not stop reading"
print(f"{sent} bytes until the server stopped reading")
asleep()

mute.setblocking(True)
mute.shutdown(socket.SHUT_WR)
assert b"".join(iter(lambda: mute.recv(1 << 20), b"")) == text[:sent]
say(talks, b"three")
assert server.poll() is None
talks.shutdown(socket.SHUT_WR)
assert talks.recv(1) == b""
assert server.wait() == 0
EOP
