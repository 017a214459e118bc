"""Snakemake in processes of their own that need not import it, which is two thirds of what a dry run costs.

They are forked from a process that has imported Snakemake and nothing of ours: this file, run as a program.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache

#: Seconds after which something hangs, however busy the machine is.
HANGS = 1800


def run_snakemake(arguments, folder, environment):
    """Run Snakemake to its end, as `python -m snakemake` does; standard output and error come as one text."""
    with tempfile.NamedTemporaryFile() as said:
        asked = {"arguments": arguments, "folder": str(folder), "environment": environment, "said": said.name}
        parent = _parent()
        parent.stdin.write(json.dumps(asked) + "\n")
        parent.stdin.flush()
        code = int(parent.stdout.readline())
        return subprocess.CompletedProcess(["snakemake", *arguments], code, said.read().decode(errors="replace"))


@cache
def _parent():
    """The process that others are forked from; it has no thread beside its own."""
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    parent = subprocess.Popen([sys.executable, "-P", __file__], env=one_thread, **pipes)
    atexit.register(parent.communicate)  # it ends with its input
    return parent


def _serve():
    """Fork a process for each line of input, and say how it ended."""
    import snakemake.cli

    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(**json.loads(line))
            snakemake.cli.main(sys.argv[1:])  # it ends the process
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(arguments, folder, environment, said):
    """Take over what a process of its own would have been started with."""
    for number, file in ((0, os.devnull), (1, said), (2, said)):
        os.dup2(os.open(file, os.O_RDWR), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0:0] = environment["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["snakemake", *arguments]


if __name__ == "__main__":
    _serve()
