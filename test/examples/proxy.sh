#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# proxy.sh PROGRAM: a server behind it gets what clients send, and they get its answers,
# also clients that are installed; ends and resets go through, and a client that takes
# nothing holds up nobody else. Skipped where a machine has not even a loopback device.
set -eu

exec python3 - "$1" <<'END'
import atexit
import hashlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading

PATIENCE = 60
HARD = struct.pack("ii", 1, 0)  # SO_LINGER: close() resets


def echo(client):
    try:
        while some := client.recv(65536):
            client.sendall(some)
        client.close()
    except OSError:
        client.close()


def serve(server):
    while True:
        client, _ = server.accept()
        threading.Thread(target=echo, args=(client,), daemon=True).start()


try:
    behind = socket.create_server(("127.0.0.1", 0))
except OSError as error:
    print("there is no loopback device:", error)
    sys.exit(77)
threading.Thread(target=serve, args=(behind,), daemon=True).start()
gone = socket.create_server(("127.0.0.1", 0))
nobody = gone.getsockname()[1]
gone.close()


def start(server):
    proxy = subprocess.Popen([sys.argv[1], "127.0.0.1:0", f"127.0.0.1:{server}"],
                             stderr=subprocess.PIPE, text=True)
    atexit.register(proxy.kill)
    return proxy, int(proxy.stderr.readline().rsplit(":", 1)[1])


def connect(port):
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def take(client, n):
    got = b""
    while len(got) < n:
        got += client.recv(n - len(got))
    return got


def say(client, text):
    client.sendall(text)
    assert take(client, len(text)) == text


proxy, port = start(behind.getsockname()[1])
first = connect(port)
say(first, b"one")

# Much, both ways at once: each byte comes back.
much = random.Random(1).randbytes(8_000_000)
client = connect(port)
threading.Thread(target=lambda: (client.sendall(much),
                                 client.shutdown(socket.SHUT_WR))).start()
got = hashlib.sha256()
while some := client.recv(1 << 20):
    got.update(some)
assert got.digest() == hashlib.sha256(much).digest()
client.close()

# One that takes nothing.
mute = connect(port)
mute.setblocking(False)
sent = stuck = 0
while stuck < 10 and sent < 100_000_000:
    try:
        sent += mute.send(much[:65536])
        stuck = 0
    except BlockingIOError:
        stuck += 1
        say(first, b"two")
assert stuck == 10, "the proxy does not stop reading"
mute.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HARD)
mute.close()

for program in (["nc", "127.0.0.1", str(port)],
                ["socat", "-", f"TCP:127.0.0.1:{port}"],
                ["curl", "-sN", f"telnet://127.0.0.1:{port}"]):
    if not shutil.which(program[0]):
        print(f"{program[0]} is not installed, and left out")
        continue
    with subprocess.Popen(program, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as client:
        client.stdin.write(b"hello\n")
        client.stdin.flush()
        assert client.stdout.readline() == b"hello\n", program[0]
        client.kill()

say(first, b"three")
first.shutdown(socket.SHUT_WR)
assert first.recv(1) == b""

# Where the server cannot be had, the client is sent away, and the next one comes.
other, port = start(nobody)
for _ in range(3):
    client = connect(port)
    try:
        assert client.recv(1) == b""
    except ConnectionResetError:
        pass
assert proxy.poll() is None and other.poll() is None
END
