#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# serve.sh PROGRAM: each client gets its lines back in capitals, also while one
# sends and reads nothing, whose answers come in full when it reads. A signal
# closes an idle connection, and the server ends well. Skipped where a machine has not
# even a loopback device.
set -eu

PYTHONPATH=$(dirname "$0") exec python3 -B - "$1" <<'END'
import signal
import socket
import subprocess
import sys

from served import connect, fill, need_loopback, say, start, until_end

need_loopback()
server, port = start(sys.argv[1], stdout=subprocess.PIPE)
idle = connect(port)
say(idle, b"one\n", b"ONE\n")

line = b"a line of the mute\n"
mute = connect(port)
sent = fill(mute, lambda sent: (line * 1001)[sent % len(line):],
            lambda: say(idle, b"two\n", b"TWO\n"))
say(connect(port), b"three\n", b"THREE\n")

mute.shutdown(socket.SHUT_WR)
wanted = (line * (sent // len(line) + 1))[:sent].upper()
assert until_end(mute) == wanted.removesuffix(b"\n") + b"\n"

server.send_signal(signal.SIGTERM)
assert idle.recv(1) == b""
assert server.wait() == 0
END
