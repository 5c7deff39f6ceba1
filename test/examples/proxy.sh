#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# proxy.sh PROGRAM: a server behind it gets what clients send, and they get its answers,
# also clients that are installed; ends and resets go through, and a client that takes
# nothing holds up nobody else. Skipped where a machine has not even a loopback device.
set -eu

PYTHONPATH=$(dirname "$0") exec python3 -B - "$1" <<'END'
import hashlib
import random
import socket
import struct
import sys
import threading

from served import connect, echoes_to_installed, fill, need_loopback, say, start

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


def proxy_to(server):
    return start(sys.argv[1], "127.0.0.1:0", f"127.0.0.1:{server}")


need_loopback()
behind = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(behind,), daemon=True).start()
gone = socket.create_server(("127.0.0.1", 0))
nobody = gone.getsockname()[1]
gone.close()

proxy, port = proxy_to(behind.getsockname()[1])
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
fill(mute, lambda _: much[:65536], lambda: say(first, b"two"))
mute.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HARD)
mute.close()

echoes_to_installed(port)
say(first, b"three")
first.shutdown(socket.SHUT_WR)
assert first.recv(1) == b""

# Where the server cannot be had, the client is sent away, and the next one comes.
other, port = proxy_to(nobody)
for _ in range(3):
    client = connect(port)
    try:
        assert client.recv(1) == b""
    except ConnectionResetError:
        pass
assert proxy.poll() is None and other.poll() is None
END
