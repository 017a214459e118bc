"""Snakemake in processes of their own that need not import it, which is most of what a dry run costs.

They are forked from a process that has imported Snakemake: this file, run as a program. If they work with the source of
this project, and not with a copy that a test changes, it has also imported and digested that; if they work with nothing
else, so that no plug-in of a test meets what it must not, their jobs are forked too (`forked_jobs.py`).
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
#: Seconds after which something hangs, however busy the machine is.
HANGS = 1800


def run_snakemake(arguments, folder, environment):
    """Run Snakemake to its end, as `python -m snakemake` does; standard output and error come as one text."""
    with tempfile.NamedTemporaryFile() as said:
        path = environment["PYTHONPATH"].split(os.pathsep)
        python = _python_of_jobs() if path == [str(PROJECT / "src")] else sys.executable
        asked = {"arguments": arguments, "folder": str(folder), "environment": environment, "said": said.name}
        asked["python"] = python
        parent = _parent(path[0] == str(PROJECT / "src"))
        parent.stdin.write(json.dumps(asked) + "\n")
        parent.stdin.flush()
        code = int(parent.stdout.readline())
        return subprocess.CompletedProcess(["snakemake", *arguments], code, said.read().decode(errors="replace"))


@cache
def _python_of_jobs():
    import forked_jobs

    return forked_jobs.start_server()


@cache
def _parent(has_ours):
    """The process that others are forked from; no other thread of it does any work."""
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    call = [sys.executable, "-P", __file__, *(["ours"] if has_ours else [])]
    parent = subprocess.Popen(call, env=one_thread, **pipes)
    atexit.register(parent.communicate)  # it ends with its input
    return parent


def _serve():
    """Fork a process for each line of input, and say how it ended."""
    import snakemake.cli

    if sys.argv[1:]:
        _prepare(snakemake.cli)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(**json.loads(line))
            snakemake.cli.main(sys.argv[1:])  # it ends the process
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _prepare(cli):
    """Import what each of them would, and read our source as a plan does."""
    import nbformat  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    cli.get_argument_parser()  # it imports Snakemake's plug-ins
    sys.path.insert(0, str(PROJECT / "src"))
    from blanketflow.config.file import read_config_file
    from blanketflow.workflow import digest, output_folder, up_to_date  # noqa: F401
    from blanketflow.workflow.plan import make_plan

    make_plan(read_config_file(PROJECT / "config/minimal.yaml"), (PROJECT / "scripts").joinpath)
    digest.code_digest(*digest.ROOT.rglob("*.py"), *PROJECT.glob("scripts/*.py"))
    sys.path.pop(0)


def _become(arguments, folder, environment, said, python):
    """Take over what a process of its own would have been started with."""
    for number, file in ((0, os.devnull), (1, said), (2, said)):
        os.dup2(os.open(file, os.O_RDWR), number)
    signal.alarm(HANGS)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0:0] = environment["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["snakemake", *arguments]
    sys.executable = python  # by which Snakemake starts jobs


if __name__ == "__main__":
    _serve()
