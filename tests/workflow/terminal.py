"""A pseudo-terminal: what a person sees and types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

_CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\r")


def in_terminal(command, folder, environment, typed=None, size=(40, 100), limit=900):
    """Run a command in a terminal; return its exit code and everything shown, without control sequences.

    `typed` takes what is shown so far and returns keys to press, or None; after some it is not asked again.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, environment | {"TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    shown, end = b"", time.time() + limit
    while time.time() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            shown += more
        keys = typed(shown) if typed else None
        if keys:
            os.write(terminal, keys)
            typed = None
    else:  # nobody would read what it goes on to write, and it would wait for that
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), _CONTROL.sub("", shown.decode(errors="replace"))
