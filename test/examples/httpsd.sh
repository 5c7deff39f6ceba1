#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# httpsd.sh PROGRAM: openssl s_client and, where it is installed, curl get what they ask
# for, over each version of TLS; a client that speaks none, or does not trust the server,
# is sent away, and the server says why. Skipped where a machine has not even a loopback
# device.
set -eu

exec python3 - "$1" <<'EOF'
import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile

try:
    socket.create_server(("127.0.0.1", 0)).close()
except OSError as error:
    print("there is no loopback device:", error)
    sys.exit(77)
if not shutil.which("openssl"):
    print("openssl is not installed")
    sys.exit(77)

folder = tempfile.TemporaryDirectory()
atexit.register(folder.cleanup)
os.chdir(folder.name)
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", "key.pem", "-out", "cert.pem"],
               check=True, stderr=subprocess.DEVNULL)
server = subprocess.Popen([sys.argv[1], "127.0.0.1:0", "cert.pem", "key.pem"],
                          stderr=subprocess.PIPE, text=True)
atexit.register(server.kill)
port = server.stderr.readline().strip().rsplit(":", 1)[1]


def said(*words):
    """Waits for a line with one of the words: a client that is gone may have been told
    of by another line, as of a reset that overtook its alert."""
    while True:
        line = server.stderr.readline()
        assert line.startswith("httpsd: "), line
        if any(word in line for word in words):
            return


WANTED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n/one\n"
for version in ("-tls1_2", "-tls1_3"):
    with subprocess.Popen(
            ["openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile",
             "cert.pem", "-verify_hostname", "localhost", version, "-connect",
             f"127.0.0.1:{port}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL) as client:
        for _ in range(2):
            client.stdin.write(b"GET /one HTTP/1.1\r\n\r\n")
            client.stdin.flush()
            assert client.stdout.read(len(WANTED)) == WANTED
        client.kill()
    # it has ended without a close_notify
    said("close_notify", "reset")

if shutil.which("curl"):
    got = subprocess.run(["curl", "-sS", "--cacert", "cert.pem",
                          f"https://localhost:{port}/a/page",
                          f"https://localhost:{port}/another"],
                         capture_output=True, check=True)
    assert got.stdout == b"/a/page\n/another\n", got
    got = subprocess.run(["curl", "-sS", f"https://localhost:{port}/"],
                         capture_output=True)
    assert got.returncode == 60, got
    said("unknown ca", "reset")
else:
    print("curl is not installed, and left out")

with socket.create_connection(("127.0.0.1", int(port))) as plain:
    plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
    while plain.recv(100):
        pass
said("http request")
assert server.poll() is None
EOF
