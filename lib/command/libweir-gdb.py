# SPDX-License-Identifier: BSD-2-Clause
"""For gdb: `weir why`, `weir table` and so on say of the process or core file that is
debugged what the command `weir` says. Beside libweir.so gdb loads this by itself; else
`source libweir-gdb.py`. docs/command.md."""

import re
import subprocess

import gdb


class Program(gdb.Parameter):
    """The path of the command `weir`."""

    set_doc = "Set the path of the command weir."
    show_doc = "Show the path of the command weir."

    def __init__(self):
        super().__init__("weir-command", gdb.COMMAND_FILES, gdb.PARAM_FILENAME)
        self.value = "weir"

    def get_set_string(self):
        return ""


def debugged():
    """How the command is told which one it is."""
    core = re.search(r"core dump file:\n\s+`(.*)', file type",
                     gdb.execute("info files", to_string=True))
    if core:
        program = gdb.current_progspace().filename
        return ["--core", core[1], *(["--exe", program] if program else [])]
    pid = gdb.selected_inferior().pid
    if not pid:
        raise gdb.GdbError("There is no process and no core file.")
    return ["--memory", str(pid)]


class Weir(gdb.Command):
    """weir [why [ACTOR] | table | dot | json]
Which actors there are, and why they wait. The process does not go on meanwhile."""

    def __init__(self):
        super().__init__("weir", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument) or ["why"]
        if words[0] not in ("why", "table", "dot", "json"):
            raise gdb.GdbError(self.__doc__.partition("\n")[0])
        program = gdb.parameter("weir-command")
        try:
            done = subprocess.run([program, words[0], *debugged(), *words[1:]],
                                  capture_output=True, text=True, errors="replace",
                                  check=False)
        except OSError as error:
            raise gdb.GdbError(f"{program}: {error.strerror}; set weir-command") from None
        if done.returncode:
            raise gdb.GdbError(done.stderr.strip())
        gdb.write(done.stdout)


Program()
Weir()
