"""The jobs of the workflow, called from Python: what Snakemake would run, in its order, without Snakemake.

`python suite/jobs.py plan CONFIG JOBS` writes the jobs of a config as JSON, by a dry run; `run JOBS` runs them all in
one process, in this folder; `one JOB` runs one and prints where its CPU seconds went.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

REPO = Path(__file__).parents[2]
#: What reads and writes files, by name, in the modules of the package.
READERS, WRITERS = ("read_arrow", "read_features", "read_table"), ("write_arrow", "write_columns")
#: Groups of a job that have names.
GROUPS = ("input", "output", "params", "wildcards")


class _Named(dict):
    """What Snakemake gives a script for inputs, outputs, params and wildcards, as far as `run_script` asks."""


class _Job:
    def __init__(self, known: dict[str, Any]) -> None:
        self.log, self.threads = known["log"], known["threads"]
        self.input, self.output, self.params, self.wildcards = (_Named(known[group]) for group in GROUPS)


def plan(config: Path, path: Path) -> None:
    """Write the jobs of a config in an order in which they can run; nothing is run."""
    from snakemake.cli import main
    from snakemake.executors import dryrun

    jobs: list[dict[str, Any]] = []

    def note(executor: Any, job: Any) -> None:
        if job.rule.script:
            script = Path(job.rule.basedir.get_path_or_uri(secret_free=False), job.rule.script)
            groups = {group: _plain(getattr(job, group)) for group in GROUPS}
            jobs.append(
                {"rule": job.rule.name, "script": str(script), "log": list(job.log), "threads": job.threads, **groups}
            )
        submitted(executor, job)

    submitted, dryrun.Executor.run_job = dryrun.Executor.run_job, note
    try:
        main(["--snakefile", str(REPO / "Snakefile"), "--configfile", str(config), "-n", "--quiet", "all"])
    except SystemExit as done:
        if done.code:
            raise
    path.write_text(json.dumps(jobs), encoding="utf-8")


def _plain(group: Any) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else list(value) for name, value in group.items()}


def run(jobs: list[dict[str, Any]]) -> None:
    """Run jobs one after the other in this process."""
    modules: dict[str, ModuleType] = {}
    for job in jobs:
        if job["script"] not in modules:
            modules[job["script"]] = load(job["script"])
        execute(modules[job["script"]].main, job)


def load(script: str) -> ModuleType:
    """Return a script of the workflow as a module."""
    name = f"script_{Path(script).stem}"
    spec = importlib.util.spec_from_file_location(name, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def execute(main: Callable[..., None], job: dict[str, Any]) -> None:
    """Call a script's `main` as a job does."""
    from blanketflow.workflow.jobs import run_script

    paths = [*job["log"], *_flat(job["output"])]
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    stdout, stderr = sys.stdout, sys.stderr
    try:
        run_script(main, _Job(job))
    finally:
        sys.stdout, sys.stderr = stdout, stderr


def remove_outputs(job: dict[str, Any], folder: Path) -> None:
    """Remove what a job writes, as Snakemake does before it runs one: a stage may go on from what is there."""
    for path in _flat(job["output"]):
        if (folder / path).is_file():
            (folder / path).unlink()


def refuse_failures(jobs: list[dict[str, Any]], folder: Path) -> None:
    """Raise `RuntimeError` if a job wrote that it failed: what fails is fast, and must not be taken for speed."""
    from blanketflow.data.artefacts import read_provenance

    for path in (path for job in jobs for path in _flat(job["output"])):
        if path.endswith(".parquet") and ("/ci_test/" in path or "/select/" in path) and (folder / path).is_file():
            provenance = read_provenance(folder / path)
            if not provenance.usable:
                raise RuntimeError(f"{path}: {provenance.status}, {provenance.reason}")


def one(job: dict[str, Any]) -> dict[str, float]:
    """Run one job in this process and return its CPU seconds by what they went to.

    Kernels are those that the job loads while it works: what their modules take to import, numba with them.
    """
    points = [("interpreter", 0.0, time.process_time())]
    import snakemake.script  # noqa: F401

    points.append(("snakemake's preamble", points[-1][2], time.process_time()))
    main = load(job["script"]).main
    points.append(("imports", points[-1][2], time.process_time()))
    found = {name: end - begin for name, begin, end in points}
    inside = {"kernels": _Kernels(), "reading": _Calls(*READERS), "writing": _Calls(*WRITERS)}
    for clock in inside.values():
        clock.start()
    begin = time.process_time()
    execute(main, job)
    whole = time.process_time() - begin
    for name, clock in inside.items():
        found[name] = clock.seconds
    found["work"] = whole - sum(clock.seconds for clock in inside.values())
    return found


class _Clock:
    """CPU seconds inside some calls; calls within calls are counted once, for the outermost of any clock."""

    is_inside = False

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        def call(*arguments: Any, **named: Any) -> Any:
            if _Clock.is_inside:
                return function(*arguments, **named)
            _Clock.is_inside, begin = True, time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.process_time() - begin
                _Clock.is_inside = False

        return call


class _Kernels(_Clock):
    """What importing modules of kernels takes, wherever it happens."""

    def start(self) -> None:
        class Finder:
            @staticmethod
            def find_spec(name: str, path: Any, target: Any = None) -> Any:
                if not name.startswith("blanketflow.kernels."):
                    return None
                import importlib.machinery

                spec = importlib.machinery.PathFinder.find_spec(name, path, target)
                if spec is not None and spec.loader is not None:
                    spec.loader.exec_module = self.timed(spec.loader.exec_module)
                return spec

        sys.meta_path.insert(0, Finder)


class _Calls(_Clock):
    """What some functions take, in every module of the package that has them."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def start(self) -> None:
        for module in [m for name, m in sys.modules.items() if name.startswith("blanketflow.")]:
            for name in self.names:
                if callable(getattr(module, name, None)):
                    setattr(module, name, self.timed(getattr(module, name)))


def _flat(group: dict[str, Any]) -> list[str]:
    return [path for value in group.values() for path in ([value] if isinstance(value, str) else value)]


def main(arguments: list[str]) -> None:
    """Do what is asked."""
    what, *paths = arguments
    if what == "plan":
        plan(Path(paths[0]), Path(paths[1]))
    elif what == "run":
        run(json.loads(Path(paths[0]).read_text(encoding="utf-8")))
    else:
        print(json.dumps(one(json.loads(Path(paths[0]).read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main(sys.argv[1:])
