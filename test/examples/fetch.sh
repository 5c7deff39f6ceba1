#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fetch.sh PROGRAM: the server gets the text and its end, and all that it answers is
# printed, by address, by name, and through a Unix domain socket. A server that is not
# there is an error. Skipped where a machine has not even a loopback device.
set -eu

exec python3 - "$1" <<'EOF'
import os
import socket
import subprocess
import sys
import tempfile

ANSWER = b"an answer\n" * 100_000


def fetch(address, listener):
    client = subprocess.Popen([sys.argv[1], address, "a question"],
                              stdout=subprocess.PIPE)
    server, _ = listener.accept()
    asked = b"".join(iter(lambda: server.recv(100), b""))
    assert asked == b"a question", asked
    # it takes while it is sent
    if os.fork() == 0:
        server.sendall(ANSWER)
        os._exit(0)
    server.close()
    assert client.stdout.read() == ANSWER
    assert client.wait() == 0
    os.wait()


try:
    tcp = socket.create_server(("127.0.0.1", 0))
except OSError as error:
    print("there is no loopback device:", error)
    sys.exit(77)
port = tcp.getsockname()[1]
fetch(f"127.0.0.1:{port}", tcp)
fetch(f"localhost:{port}", tcp)
tcp.close()
refused = subprocess.run([sys.argv[1], f"127.0.0.1:{port}", "?"], stderr=subprocess.PIPE,
                         text=True)
assert refused.returncode == 1 and "refused" in refused.stderr, refused

with tempfile.TemporaryDirectory() as folder:
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"{folder}/socket")
    unix.listen()
    fetch(f"unix:{folder}/socket", unix)
EOF
