"""Jobs of a run in processes that need not import what most jobs do: they are forked from one that has.

`serve` is that one. Snakemake starts a job as `PYTHON SCRIPT`; where it takes the program that `start_server` wrote for
its Python, that program has the script run in a fork, with its own folder, environment and files, and ends as it ends.
Runs that are killed, and those of a person's commands, start their jobs as everywhere.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
#: What is started in place of Python; anything but a script of Snakemake is left to Python.
PROGRAM = """#!{python} -IS
import os, sys
if len(sys.argv) != 2 or "/.snakemake/scripts/" not in sys.argv[1]:
    os.execv("{python}", ["{python}", *sys.argv[1:]])
import json, signal, socket
job = {{"script": sys.argv[1], "folder": os.getcwd(), "environment": dict(os.environ)}}
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
server.connect("{address}")
socket.send_fds(server, [json.dumps(job).encode()], [0, 1, 2])
code = int(server.recv(100))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def start_server():
    """Start a process that jobs are forked from; return the program that Snakemake takes for its Python."""
    folder = tempfile.TemporaryDirectory()
    program = Path(folder.name, "python")
    program.write_text(PROGRAM.format(python=sys.executable, address=f"{folder.name}/jobs"))
    program.chmod(0o755)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    call = [sys.executable, "-P", __file__, f"{folder.name}/jobs"]
    server = subprocess.Popen(call, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdout.readline()  # it listens
    atexit.register(folder.cleanup)
    atexit.register(server.communicate)  # it ends with its input
    return str(program)


def serve(address):
    """Fork a process for each job that is asked for, and say how it ended; kill it if who asked is gone."""
    _prepare()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(address)
    listening.listen(64)
    print(flush=True)
    gc.freeze()
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waited = selectors.DefaultSelector()
    for file in (0, listening, woken):
        waited.register(file, selectors.EVENT_READ)
    jobs = {}
    while True:
        for key, _ in waited.select():
            if key.fileobj == 0:  # the tests have ended
                return
            if key.fileobj is listening:
                asking = listening.accept()[0]
                jobs[_forked(asking, waited)] = asking
                waited.register(asking, selectors.EVENT_READ)
            elif key.fileobj == woken:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
            elif key.fileobj in jobs.values() and not key.fileobj.recv(1):
                waited.unregister(key.fileobj)
                os.kill(next(job for job, asking in jobs.items() if asking is key.fileobj), signal.SIGKILL)
        while jobs and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            asking = jobs.pop(ended[0])
            with contextlib.suppress(KeyError):
                waited.unregister(asking)
            with contextlib.suppress(OSError):
                asking.send(str(os.waitstatus_to_exitcode(ended[1])).encode())
            asking.close()


def _prepare():
    """Import what jobs do, of this project's source."""
    sys.path.insert(0, str(SOURCE))
    import altair  # noqa: F401
    import lightgbm  # noqa: F401
    import pandas  # noqa: F401
    import sklearn.datasets
    import sklearn.ensemble
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.svm  # noqa: F401
    import snakemake.script  # noqa: F401

    import blanketflow.ci.predictive.ppi
    import blanketflow.kernels.contingency
    import blanketflow.reporting.report
    import blanketflow.workflow.stages.aggregation
    import blanketflow.workflow.stages.decisions
    import blanketflow.workflow.stages.evaluation
    import blanketflow.workflow.stages.marginal
    import blanketflow.workflow.stages.splits
    import blanketflow.workflow.stages.table  # noqa: F401

    sys.path.pop(0)


def _forked(asking, waited):
    """Fork the process of a job; return its id."""
    asked, files, _, _ = socket.recv_fds(asking, 1 << 20, 3)
    process = os.fork()
    if process:
        for file in files:
            os.close(file)
        return process
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        waited.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
        _become(**json.loads(asked))
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()
        for file in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                file.flush()
        os._exit(code)


def _become(script, folder, environment):
    """Do what `python SCRIPT` does."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # as the environment says it
    beside = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[0:0] = [os.path.dirname(script), *beside]
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1])
