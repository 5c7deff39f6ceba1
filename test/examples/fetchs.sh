#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fetchs.sh PROGRAM: openssl s_server gets the text, and its answer is printed, over each
# version of TLS; a server of another name, or that is not trusted, is an error. Skipped
# where a machine has not even a loopback device.
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
    free = socket.create_server(("127.0.0.1", 0))
except OSError as error:
    print("there is no loopback device:", error)
    sys.exit(77)
if not shutil.which("openssl"):
    print("openssl is not installed")
    sys.exit(77)

folder = tempfile.TemporaryDirectory()
atexit.register(folder.cleanup)
os.chdir(folder.name)
for name in ("good", "other"):
    host = "localhost" if name == "good" else "other.test"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}",
                    "-keyout", f"{name}.key", "-out", f"{name}.pem"],
                   check=True, stderr=subprocess.DEVNULL)
free.close()


def serve(name, *options):
    """An s_server that sends each line back turned round, and its port."""
    server = subprocess.Popen(
        ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", f"{name}.pem",
         "-key", f"{name}.key", "-rev", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    atexit.register(server.kill)
    while "ACCEPT" not in (line := server.stdout.readline()):
        assert line, "s_server has ended"
    return server, line.rsplit(":", 1)[1].strip()


def fetch(port, ca, text):
    return subprocess.run([sys.argv[1], "localhost", port, ca, text],
                          capture_output=True, timeout=60)


for version in ("-tls1_2", "-tls1_3"):
    server, port = serve("good", version)
    got = fetch(port, "good.pem", "turn me\nand me\n")
    assert got.stdout == b"em nrut\nem dna\n" and got.returncode == 0, got
    got = fetch(port, "other.pem", "?")
    assert got.returncode == 1 and b"self-signed certificate" in got.stderr, got
    server.kill()

server, port = serve("other")
got = fetch(port, "other.pem", "?")
assert got.returncode == 1 and b"hostname mismatch" in got.stderr, got
EOF
