# SPDX-License-Identifier: BSD-2-Clause
"""What the scripts share that test servers. They are skipped where a machine has not
even a loopback device."""
import atexit
import shutil
import socket
import subprocess
import sys

PATIENCE = 60


def start(*command, **pipes):
    """A server and its port, which is behind the last colon of its first line."""
    server = subprocess.Popen(command, text=True, **(pipes or {"stderr": subprocess.PIPE}))
    atexit.register(server.kill)
    line = (server.stderr or server.stdout).readline()
    try:
        return server, int(line.split()[-1].rsplit(":", 1)[-1])
    except (IndexError, ValueError):
        sys.exit(f"{command[0]} says {line!r} in place of its address")


def connect(port):
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def need_loopback():
    try:
        socket.create_server(("127.0.0.1", 0)).close()
    except OSError as error:
        print("there is no loopback device:", error)
        sys.exit(77)


def take(client, n):
    got = b""
    while len(got) < n and (some := client.recv(n - len(got))):
        got += some
    return got


def say(client, text, answer=None):
    """Sends, and takes the answer: by default the text."""
    client.sendall(text)
    answer = text if answer is None else answer
    got = take(client, len(answer))
    assert got == answer, (text, got)


def fill(client, pieces, beside):
    """Sends until nobody takes any more, and ten times beside() went well since. How
    many bytes it was; the client blocks again."""
    client.setblocking(False)
    sent = stuck = 0
    while stuck < 10 and sent < 100_000_000:
        try:
            sent += client.send(pieces(sent))
            stuck = 0
        except BlockingIOError:
            stuck += 1
            beside()
    assert stuck == 10, "the server does not stop reading"
    client.settimeout(PATIENCE)
    return sent


def until_end(client):
    return b"".join(iter(lambda: client.recv(1 << 20), b""))


def installed(*command):
    if shutil.which(command[0]):
        return True
    print(f"{command[0]} is not installed, and left out")
    return False


def echoes_to_installed(port):
    """Clients that are installed are sent back a line."""
    for command in (["nc", "127.0.0.1", str(port)],
                    ["socat", "-", f"TCP:127.0.0.1:{port}"],
                    ["curl", "-sN", f"telnet://127.0.0.1:{port}"]):
        if not installed(*command):
            continue
        with subprocess.Popen(command, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as client:
            client.stdin.write(b"hello\n")
            client.stdin.flush()
            assert client.stdout.readline() == b"hello\n", command[0]
            client.kill()
