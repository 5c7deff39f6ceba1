#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sortd.sh PROGRAM: each client gets its lines in order when it has ended, also more than
# all buffers hold; four are served at a time, and a fifth waits; one that is silent or
# takes nothing is reset behind its limit, and no child is left of those that are gone. Skipped where a
# machine has not even a loopback device.
set -eu

PYTHONPATH=$(dirname "$0") exec python3 -B - "$1" <<'END'
import pathlib
import random
import select
import socket
import struct
import sys
import threading

from served import connect, need_loopback, start, until_end


def children(server):
    path = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children")
    return path.read_text().split() if path.exists() else None


def at_rest(server, n):
    """As soon as there are so many; where the kernel tells of them."""
    while (found := children(server)) is not None and len(found) != n:
        pass


def ends(client):
    client.shutdown(socket.SHUT_WR)
    return until_end(client)


need_loopback()
server, port = start(sys.argv[1], "127.0.0.1:0")
client = connect(port)
client.sendall(b"b\nc\na")
assert ends(client) == b"a\nb\nc\n"

# Much: it takes while it is sent to.
lines = [b"%d\n" % random.Random(n).getrandbits(60) for n in range(200_000)]
client = connect(port)
threading.Thread(target=lambda: (client.sendall(b"".join(lines)),
                                 client.shutdown(socket.SHUT_WR))).start()
got = until_end(client).splitlines(keepends=True)
assert sorted(got) == sorted(lines) and len(got) == len(lines)

# The fifth is connected and has sent all; it is served when another one is done.
four = [connect(port) for _ in range(4)]
at_rest(server, 4)
fifth = connect(port)
fifth.sendall(b"2\n1\n")
fifth.shutdown(socket.SHUT_WR)
at_rest(server, 4)
fifth.setblocking(False)
try:
    raise AssertionError(f"five are served: {fifth.recv(1)}")
except BlockingIOError:
    fifth.settimeout(60)
assert ends(four[0]) == b""
assert until_end(fifth) == b"1\n2\n"
for client in four[1:]:
    assert ends(client) == b""
at_rest(server, 0)

# One that goes takes its child along.
gone = connect(port)
at_rest(server, 1)
gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
gone.close()
at_rest(server, 0)

# Limits.
limited, port = start(sys.argv[1], "127.0.0.1:0", "1500")
silent = connect(port)
try:
    raise AssertionError(f"it is not reset: {silent.recv(1)}")
except ConnectionResetError:
    assert "sent nothing" in limited.stderr.readline()
mute = connect(port)
mute.sendall(2_000_000 * b"0123456789\n")
mute.shutdown(socket.SHUT_WR)
poll = select.poll()
poll.register(mute, 0)  # which waits for a reset alone
assert poll.poll(60_000)
assert "taken nothing" in limited.stderr.readline()
at_rest(limited, 0)
assert server.poll() is None and limited.poll() is None
END
