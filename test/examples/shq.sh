#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# shq.sh PROGRAM CLIENT: of 200 commands never more than 4 run at once, and 4 do; each
# has its status and its output, also for clients that are installed; a client that is
# gone leaves no child, and what it has asked for does not begin; no zombie and no
# descriptor is left; SIGTERM lets what was read be done, and a second one stops it.
set -eu

exec python3 - "$1" "$2" <<'EOP'
import atexit
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

program, client = map(os.path.abspath, sys.argv[1:])
COMMANDS = 200
# Paths of sockets are short: all are relative to it.
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


class Server:
    def __init__(self, address):
        # of a signal that the test ignores a shell would tell nobody
        self.process = subprocess.Popen([program, address, "4"], text=True,
                                        stdout=subprocess.PIPE)
        atexit.register(self.process.kill)
        self.address = self.process.stdout.readline().strip()
        self.proc = pathlib.Path(f"/proc/{self.process.pid}")
        one = self.connect()
        one.sendall(b"true\n")
        with one.makefile("rb") as file:
            assert next(answers(file)) == (0, b"")
        self.n_open = self.open() - 1  # but for this client
        one.close()

    def open(self):
        return len(list((self.proc / "fd").iterdir()))

    def at_rest(self):
        """As soon as it is as it was at first."""
        while self.open() != self.n_open:
            pass
        children = self.proc / "task" / str(self.process.pid) / "children"
        assert not children.exists() or children.read_text() == ""

    def connect(self):
        if self.address.startswith("unix:"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(self.address[5:])
            return made
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)))

    def ends(self, status):
        assert self.process.wait() == status
        return self.process.stdout.read()


def appears(name):
    """The content of a file, as soon as it has a line."""
    while True:
        try:
            text = pathlib.Path(name).read_text()
            if text.endswith("\n"):
                return text
        except FileNotFoundError:
            pass


def gone(pid):
    """As soon as it has been waited for, too."""
    while os.path.exists(f"/proc/{pid}"):
        pass


def answers(file):
    """All of them, without the dots."""
    for line in iter(file.readline, b""):
        if line != b".\n":
            status, n = map(int, line.split())
            yield status, file.read(n)


def wait_for(name):
    return f"echo $$ >{name}; while [ ! -e go ]; do sleep 0.01; done"


try:
    server = Server("unix:socket")

    # One client with many commands.
    subprocess.run([client, "socket", str(COMMANDS)], check=True)
    seen = [int(n) for n in pathlib.Path("seen").read_text().split()]
    assert len(seen) == COMMANDS and max(seen) == 4, seen
    server.at_rest()

    # Clients of others; a part of a line is no command.
    text = b"echo one; exit 3\necho $((1 + 1))\nnonesuch\necho three"
    for other in (["nc", "-N", "-U", "socket"],
                  ["socat", "-t", "60", "-", "UNIX-CONNECT:socket"]):
        if not shutil.which(other[0]):
            print(f"{other[0]} is not installed, and left out")
            continue
        done = subprocess.run(other, input=text, stdout=subprocess.PIPE, check=True)
        with open("answers", "wb") as file:
            file.write(done.stdout)
        with open("answers", "rb") as file:
            found = list(answers(file))
        assert found[:2] == [(3, b"one\n"), (0, b"2\n")], (other, found)
        assert len(found) == 3 and found[2][0] == 127, (other, found)
    server.at_rest()

    # Too much output is an error of that command alone.
    one = server.connect()
    one.sendall(b"yes\necho still here\n")
    one.shutdown(socket.SHUT_WR)
    found = list(answers(one.makefile("rb")))
    assert found[0][0] == -90 and found[1] == (0, b"still here\n"), found
    one.close()
    server.at_rest()

    # A client goes whose command runs, and one whose command waits.
    busy = server.connect()
    busy.sendall("".join(wait_for(f"busy{i}") + "\n" for i in range(3)).encode())
    for i in range(3):
        appears(f"busy{i}")
    leaves = server.connect()
    leaves.sendall(b"echo $$ >leaves; exec sleep 1000\n"
                   b"echo >begun\necho >begun\n")
    pid = int(appears("leaves"))
    leaves.close()
    gone(pid)
    pathlib.Path("go").touch()
    busy.shutdown(socket.SHUT_WR)
    assert list(answers(busy.makefile("rb"))) == [(0, b"")] * 3
    busy.close()
    server.at_rest()
    assert not os.path.exists("begun")

    # SIGTERM: 4 run, 4 wait, and nobody can come any more.
    os.unlink("go")
    last = server.connect()
    last.sendall("".join(wait_for(f"last{i}") + f"; exit {i}\n"
                         for i in range(8)).encode())
    for i in range(4):
        appears(f"last{i}")
    server.process.send_signal(signal.SIGTERM)
    while os.path.exists("socket"):
        pass
    pathlib.Path("go").touch()
    found = list(answers(last.makefile("rb")))
    assert found == [(i, b"") for i in range(8)], found
    last.close()
    assert "at most 4 at a time" in server.ends(0)

    # A reset; then two signals, where a command would never end.
    try:
        socket.create_server(("127.0.0.1", 0)).close()
        where = "127.0.0.1:0"
    except OSError as error:
        print("there is no loopback device:", error)
        where = "unix:socket"
    server = Server(where)
    for name in ("reset", "stopped"):
        one = server.connect()
        one.sendall(f"echo $$ >{name}; exec sleep 1000\n".encode())
        pid = int(appears(name))
        if name == "reset":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
            one.close()
            gone(pid)
            server.at_rest()
    server.process.send_signal(signal.SIGTERM)
    while True:
        try:
            server.connect().close()
        except OSError:
            break
    server.process.send_signal(signal.SIGTERM)
    server.ends(1)
    gone(pid)
finally:
    os.chdir("/")
EOP
