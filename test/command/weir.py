#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""weir.py COMMAND PROGRAM: what the command says of a program that stands still, which
has no line of code for it; also on a terminal. COMMAND is the command, PROGRAM is
stands.c."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

COMMAND, PROGRAM = sys.argv[1:]
SCRIPT = pathlib.Path(__file__).parents[2] / "lib/command/libweir-gdb.py"
BLAME = "2 held up by: ignore < acquire waits for a permit in acquire"


def run(*arguments, status=0):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == status, (arguments, done)
    return done.stderr if status else done.stdout


def start(folder, value="1", *arguments):
    program = subprocess.Popen(
        [PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, WEIR_INSPECT=value, XDG_RUNTIME_DIR=folder))
    assert program.stdout.readline() == "up\n"
    return program


def end(program):
    program.stdin.close()
    assert program.wait(60) == 0
    program.stdout.close()


def settled(pid):
    """Once the flow has come to its halt."""
    until = time.monotonic() + 60
    while BLAME not in (said := run("why", pid)):
        assert time.monotonic() < until, said


def says_who_is_to_blame(pid):
    settled(pid)
    assert run("why", pid, "range").startswith("range waits for room in ignore < acquire")
    seen = json.loads(run("json", pid))
    assert [one["name"] for one in seen["actors"]] == ["ignore < acquire", "range"], seen
    assert "weir_link_capacity_items{" in run("prometheus", pid)
    assert run("dot", pid).startswith("digraph")
    table = run("table", pid)
    assert all(len(line) <= 80 for line in table.splitlines()), table
    assert "16      16 100%" in table, table


def traces(pid, folder):
    """The program stands still, so a trace of it is empty; what is in one, the test
    inspect/inspector says."""
    said = json.loads(run("trace", pid, "0.01"))
    assert said["otherData"]["unsafe"] is False, said
    file = pathlib.Path(folder, "trace.json")
    for arguments in (["-o", file, pid, "0.01"], [pid, "0.01", "-o", file]):
        assert run("trace", *arguments) == ""
        assert json.loads(file.read_text())["traceEvents"][0]["name"] == "process_name"
        file.unlink()
    assert "at most 60" in run("trace", "-o", file, pid, "61", status=1)
    assert not file.exists()
    assert "Is a directory" in run("trace", "-o", folder, pid, "0.01", status=1)
    assert "no such process" in run("trace", "4194305", status=1)
    assert "does not listen" in run("trace", str(os.getpid()), status=1)
    for arguments in ([], ["-o"], ["-x", pid], [pid, "1", "1"], [pid, "0" * 40]):
        assert "usage" in run("trace", *arguments, status=2), arguments


def says_what_is_wrong(pid, folder):
    assert "no actor nobody" in run("why", pid, "nobody", status=1)
    assert "no such process" in run("why", "4194305", status=1)
    assert "does not listen" in run("why", str(os.getpid()), status=1)
    assert "no number" in run("why", "me", status=1)
    assert "usage" in run("why", status=2)
    assert "usage" in run("top", "-n", "0", pid, status=2)
    assert "usage" in run(status=2)
    assert run("why", f"{folder}/nothing", status=1)


def top_is_for_scripts(pid):
    said = run("top", "-b", "-n", "2", "-d", "0.01", pid)
    assert said.count("NUMBER ACTOR") == 2, said
    assert "\033" not in said
    # from the first table on it is looked how long they wait
    said = run("top", "-b", "-n", "3", "-d", "0.2", pid)
    assert re.search(r"range +room +[0-9]+m?s +0% +100% +0% +0%\n", said), said


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_until(fd, wanted):
    said = b""
    while wanted not in said:
        ready, _, _ = select.select([fd], [], [], 60)
        assert ready, said
        said += os.read(fd, 65536)
    return said


def top_draws_on_a_terminal(pid):
    child, fd = pty.fork()
    if child == 0:
        os.execv(COMMAND, [COMMAND, "top", "-d", "1000", pid])
    resize(fd, 24, 80)
    said = read_until(fd, b"\033[J")
    assert b"ACTOR" in said and b"\033[?1049h" in said, said
    # another size is drawn at once, and no line is longer
    resize(fd, 10, 40)
    said = read_until(fd, b"\033[J")
    lines = said.rsplit(b"\033[H", 1)[1].replace(b"\r", b"").split(b"\n")
    assert len(lines) <= 10, lines
    assert all(len(line.replace(b"\033[K", b"").replace(b"\033[J", b"")) <= 40
               for line in lines[1:]), lines
    os.write(fd, b"q")
    read_until(fd, b"\033[?1049l")
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    os.close(fd)


def children_have_their_own(folder):
    program = start(folder, "1", "fork")
    child = program.stdout.readline().strip()
    assert run("why", child) == "no actor is alive\n"
    settled(str(program.pid))
    end(program)
    program = start(folder, "1", "exec")
    child = program.stdout.readline().strip()
    assert "does not listen" in run("why", child, status=1)
    settled(str(program.pid))
    end(program)


def memory_is_read(folder):
    """Of a program that does not listen, and of its core file."""
    program = start(folder, "0")
    pid = str(program.pid)
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() and scope.exists() and scope.read_text() != "0\n":
        assert "ptrace_scope" in run("why", pid, status=1)
    else:
        says_who_is_to_blame(pid)
        assert "no actor nobody" in run("why", pid, "nobody", status=1)
        assert BLAME in run("why", "--memory", pid)
        core_is_read(pid, f"{folder}/core")
    end(program)


def debugged(*arguments):
    """What gdb says to the last one of them."""
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", f"source {SCRIPT}",
         "-ex", f"set weir-command {COMMAND}", *arguments],
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


def debugger_says_it(pid):
    """Also of a process that listens, as it cannot answer while it is stopped."""
    if not shutil.which("gdb"):
        print("nothing is debugged: gdb is not there")
        return
    said = debugged("-p", pid, "-ex", "weir", "-ex", "weir why range", "-ex",
                    "weir why nobody", "-ex", "weir top", "-ex",
                    "set weir-command /no/weir", "-ex", "weir table")
    if "ptrace" in said:
        print("nothing is debugged: gdb may not")
        return
    for part in (BLAME, "range waits for room", "no actor nobody", "weir [why",
                 "/no/weir: No such file"):
        assert part in said, said
    assert "There is no process" in debugged("-ex", "weir table")
    # it goes on
    settled(pid)


def core_is_read(pid, core):
    with open(PROGRAM, "rb") as program:
        if b"__asan_init" in program.read():
            print("no core is read: that of AddressSanitizer has 16 TB")
            return
    if not shutil.which("gcore"):
        print("no core is read: gcore, of gdb, is not there")
        return
    subprocess.run(["gcore", "-o", core, pid], check=True, capture_output=True)
    core += "." + pid
    assert BLAME in run("why", "--core", core)
    assert BLAME in run("table", "--core", core, "--exe", PROGRAM)
    assert run("why", "--core", core, "range").startswith("range waits for room")
    assert run("dot", "--core", core).startswith("digraph")
    if shutil.which("gdb"):
        assert BLAME in debugged(PROGRAM, core, "-ex", "weir why")
    os.truncate(core, 4096)
    assert "no table" in run("why", "--core", core, status=1)
    os.remove(core)


def what_is_no_core_is_said(folder):
    assert "No such file" in run("why", "--core", f"{folder}/core", status=1)
    assert "no core file" in run("why", "--core", PROGRAM, status=1)
    assert "no process" in run("why", "--memory", "4194305", status=1)
    assert "no number" in run("why", "--memory", "me", status=1)
    for arguments in (["--core"], ["--core", "a", "b", "c"], ["--exe", "a", "1"],
                      ["--else", "a"], ["--memory", "1", "--core", "a"],
                      ["--memory", "1", "b", "c"]):
        assert "usage" in run("why", *arguments, status=2), arguments


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = start(folder)
        pid = str(program.pid)
        sockets = pathlib.Path(folder, "weir")
        says_who_is_to_blame(pid)
        traces(pid, folder)
        says_what_is_wrong(pid, folder)
        debugger_says_it(pid)
        top_is_for_scripts(pid)
        top_draws_on_a_terminal(pid)
        assert f"{folder}/weir/{pid}.sock" in run("list")
        end(program)
        assert not list(sockets.iterdir())
        program = start(folder, f"{folder}/own")
        settled(f"{folder}/own")
        end(program)
        children_have_their_own(folder)
        assert not list(sockets.iterdir())
        # not asked for, it does not listen
        memory_is_read(folder)
        what_is_no_core_is_said(folder)
        assert not list(sockets.iterdir())
    return 0


if __name__ == "__main__":
    sys.exit(main())
