#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# serve.sh PROGRAM: each client gets its lines back in capitals, also while one
# sends and reads nothing, whose answers come in full when it reads. A signal
# closes an idle connection, and the server ends well. Skipped where a machine has not
# even a loopback device.
set -eu

exec python3 - "$1" <<'EOF'
import atexit
import errno
import signal
import socket
import subprocess
import sys

server = subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE, text=True)
atexit.register(server.kill)
port = int(server.stdout.readline().split()[1])


def connect():
    try:
        return socket.create_connection(("127.0.0.1", port))
    except OSError as error:
        if error.errno != errno.ENETUNREACH:
            raise
        print("there is no loopback device")
        sys.exit(77)


def say(client, line):
    client.sendall(line)
    answer = b""
    while not answer.endswith(b"\n"):
        answer += client.recv(4096)
    return answer


idle = connect()
assert say(idle, b"one\n") == b"ONE\n"

line = b"a line of the mute\n"
mute = connect()
mute.setblocking(False)
sent = stuck = 0
while stuck < 10 and sent < 100_000_000:
    try:
        text = (line * 1001)[sent % len(line) :]
        sent += mute.send(text)
        stuck = 0
    except BlockingIOError:
        stuck += 1
        assert say(idle, b"two\n") == b"TWO\n"
assert stuck == 10, "the server does not stop reading"
assert say(connect(), b"three\n") == b"THREE\n"

mute.setblocking(True)
mute.shutdown(socket.SHUT_WR)
answer = b"".join(iter(lambda: mute.recv(1 << 20), b""))
wanted = (line * (sent // len(line) + 1))[:sent].upper()
assert answer == wanted.removesuffix(b"\n") + b"\n"

server.send_signal(signal.SIGTERM)
assert idle.recv(1) == b""
assert server.wait() == 0
EOF
