#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# echod.sh PROGRAM COMMAND: what a client sends comes back to it, also to the clients that are
# installed; a client's end is answered by one, and one that takes nothing holds up
# nobody else; `weir`, which COMMAND is, says who that is. Skipped where a machine has not even a loopback device.
set -eu

PYTHONPATH=$(dirname "$0") exec python3 -B - "$@" <<'END'
import os
import socket
import subprocess
import sys
import tempfile

from served import connect, echoes_to_installed, fill, need_loopback, say, start, until_end

need_loopback()
# no line of the program is for it
sockets = tempfile.TemporaryDirectory()
os.environ.update(WEIR_INSPECT="1", XDG_RUNTIME_DIR=sockets.name)
server, port = start(sys.argv[1], "127.0.0.1:0")
first, mute = connect(port), connect(port)
say(first, b"one")
sent = fill(mute, lambda _: b"x" * 65536, lambda: say(first, b"two"))
while "writable in connection_write\n" not in subprocess.run(
        [sys.argv[2], "why", str(server.pid)], capture_output=True, text=True,
        check=True).stdout:
    say(first, b"more")
mute.shutdown(socket.SHUT_WR)
assert len(until_end(mute)) == sent
first.shutdown(socket.SHUT_WR)
assert first.recv(1) == b""
echoes_to_installed(port)
assert server.poll() is None
END
