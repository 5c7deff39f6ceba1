#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# lined.sh PROGRAM: what was set is got, by lines and by arrays, in any pieces; a client
# that takes no answers slows nobody else; and redis-benchmark and nc, where they are
# installed, are served. Skipped where a machine has not even a loopback device.
set -eu

PYTHONPATH=$(dirname "$0") exec python3 -B - "$1" <<'END'
import subprocess
import sys

from served import PATIENCE, connect, fill, installed, need_loopback, start
from served import say as ask

need_loopback()
server, port = start(sys.argv[1], "127.0.0.1:0")


def resident():
    with open(f"/proc/{server.pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def array(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


first = connect(port)
ask(first, b"PING\r\n", b"+PONG\r\n")
ask(first, b"get nothing\n\r\n  set  a  1 \n", b"$-1\r\n+OK\r\n")
ask(first, array(b"GET", b"a"), b"$1\r\n1\r\n")
ask(first, array(b"SET", b"a", b""), b"+OK\r\n")
ask(first, array(b"GET", b"a") + array(b"ping"), b"$0\r\n\r\n+PONG\r\n")
ask(first, b"what is this\n" + array(b"GET"), 2 * b"-ERR no such command\r\n")
for byte in array(b"SET", b"b", b"in pieces"):
    first.sendall(bytes([byte]))
ask(first, b"", b"+OK\r\n")
ask(first, b"GET b\n", b"$9\r\nin pieces\r\n")

# One that breaks the rules is sent away, alone.
for wrong in (b"*4\r\n", b"*x\r\n", b"*1\r\nPING\r\n", b"*1\r\n$3\r\nPING\r\n",
              b"*1\r\n$99999999\r\n"):
    with connect(port) as client:
        client.sendall(wrong)
        try:
            assert client.recv(1) == b"", wrong
        except ConnectionResetError:
            pass

# One that takes no answers is not read from any more.
ask(first, array(b"SET", b"big", b"x" * 100000), b"+OK\r\n")
before = resident()
mute = connect(port)
question = 1000 * array(b"GET", b"big")
fill(mute, lambda _: question, lambda: ask(first, b"PING\n", b"+PONG\r\n"))
assert resident() - before < 100_000_000

nc = ["nc", "-N", "127.0.0.1", str(port)]
if installed(*nc):
    done = subprocess.run(nc, input=b"SET c 3\nGET c\n", capture_output=True,
                          timeout=PATIENCE)
    assert done.stdout == b"+OK\r\n$1\r\n3\r\n", done

if installed("redis-benchmark"):
    for more in ([], ["-P", "16", "-r", "1000"]):
        done = subprocess.run(["redis-benchmark", "-p", str(port), "-t", "ping,set",
                               "-n", "5000", "-c", "20", "-q", *more],
                              capture_output=True, text=True, timeout=PATIENCE)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        for name in ("PING_INLINE", "PING_MBULK", "SET"):
            assert f"{name}: " in done.stdout, said
ask(first, b"PING\n", b"+PONG\r\n")
assert server.poll() is None
END
