#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# echod.sh PROGRAM: what a client sends comes back to it, also to the clients that are
# installed; a client's end is answered by one, and one that takes nothing holds up
# nobody else. Skipped where a machine has not even a loopback device.
set -eu

exec python3 - "$1" <<'EOF'
import atexit
import shutil
import socket
import subprocess
import sys

server = subprocess.Popen([sys.argv[1], "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
atexit.register(server.kill)
line = server.stderr.readline().strip()
port = int(line.rsplit(":", 1)[1])


def connect():
    try:
        return socket.create_connection(("127.0.0.1", port))
    except OSError as error:
        print("there is no loopback device:", error)
        sys.exit(77)


def say(client, text):
    client.sendall(text)
    answer = b""
    while len(answer) < len(text):
        answer += client.recv(4096)
    assert answer == text


first = connect()
say(first, b"one")

mute = connect()
mute.setblocking(False)
sent = stuck = 0
while stuck < 10 and sent < 100_000_000:
    try:
        sent += mute.send(b"x" * 65536)
        stuck = 0
    except BlockingIOError:
        stuck += 1
        say(first, b"two")
assert stuck == 10, "the server does not stop reading"
mute.setblocking(True)
mute.shutdown(socket.SHUT_WR)
assert len(b"".join(iter(lambda: mute.recv(1 << 20), b""))) == sent

first.shutdown(socket.SHUT_WR)
assert first.recv(1) == b""

for client in (["nc", "127.0.0.1", str(port)],
               ["socat", "-", f"TCP:127.0.0.1:{port}"],
               ["curl", "-sN", f"telnet://127.0.0.1:{port}"]):
    if not shutil.which(client[0]):
        print(f"{client[0]} is not installed, and left out")
        continue
    with subprocess.Popen(client, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        program.stdin.write(b"hello\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"hello\n", client[0]
        program.kill()
assert server.poll() is None
EOF
