"""A pseudo-terminal: what a person sees and types."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from forked import HANGS

_CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\r")


#: Makes standard input the controlling terminal, which Ctrl-C needs, and becomes the command. No code of a test runs
#: between fork and exec: a worker of pytest-xdist has threads.
_OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)


def in_terminal(command, folder, environment, typed=None, size=(40, 100), limit=HANGS):
    """Run a command in a terminal; return its exit code and everything shown, without control sequences.

    `typed` takes what is shown so far and returns keys to press, or None; after some it is not asked again.
    """
    terminal, other_side = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _OWN_TERMINAL, *map(str, command)],
        cwd=folder,
        env={k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm-256color"},
        stdin=other_side,
        stdout=other_side,
        stderr=other_side,
        start_new_session=True,
    )
    os.close(other_side)
    shown, end = b"", time.monotonic() + limit
    while time.monotonic() < end:
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
        process.kill()
    code = process.wait()
    os.close(terminal)
    return code, _CONTROL.sub("", shown.decode(errors="replace"))
