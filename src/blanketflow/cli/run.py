"""``blanketflow run``: Snakemake with a progress display, then the blankets found."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..workflow.packaged_files import workflow_file
from .config_here import check_is_no_config, config_here
from .profiles import with_profiles
from .terminal import complain

_STOPPED = "stopped. The same command continues where it stopped."
#: Options with which Snakemake does not run jobs.
_NO_JOBS = (
    "--dry",
    "--print-compilation",
    "--lint",
    "--list",
    "--dag",
    "--d3dag",
    "--rulegraph",
    "--filegraph",
    "--summary",
)
_NO_JOBS += ("--detailed-summary", "--unlock", "--report", "--archive", "--cleanup", "--delete", "--version")
_NO_JOBS += ("--generate", "--containerize", "--edit", "--draft", "--touch")
_NO_JOBS_LETTERS = re.compile(r"-[a-zA-Z]*[nSDtv][a-zA-Z]*")
#: Those, and options with which Snakemake's own output is wanted.
_OWN_OUTPUT = (*_NO_JOBS, "--print", "--quiet", "--verbose", "--debug", "--logger")
_OWN_LETTERS = re.compile(r"-[a-zA-Z]*[nqplSDtv]")
#: Options that set how many jobs run at the same time, or name a profile that does.
_CORES = re.compile(r"--(cores|jobs|profile|executor)\b|-[cje]")
#: Where Snakemake looks for a workflow.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
#: Options by which jobs run in another environment than this one, with kernels of its own.
_OTHER_SOFTWARE = re.compile("--(sdm|software-deployment|deployment|use-conda|use-apptainer)")


class PassedOn(TyperCommand):
    """A command that passes on everything except its own options, in the order in which it was typed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own options and keep the others."""
        own = {name for param in self.get_params(ctx) for name in param.opts if name.startswith("-")}
        super().parse_args(ctx, [word for word in args if word in own])
        ctx.args = [word for word in args if word not in own]
        return ctx.args


def run(
    ctx: typer.Context, plain: Annotated[bool, typer.Option("--plain", help="show Snakemake's own output")] = False
) -> None:
    """Run the workflow, or continue a killed run.

    Shows the progress, then the blankets found. All further arguments go to Snakemake, such as --cores 4
    --configfile my.yaml (snakemake --help lists them). Where the output is not a terminal, each stage has a line. With
    -n it shows which jobs would run. With --plain, --quiet and similar options, Snakemake's own output is shown.
    """
    raise typer.Exit(_run(ctx.args, plain))


def _run(arguments: Sequence[str], plain: bool) -> int:
    """Run Snakemake unless another run works in the folder; return the exit code."""
    from .other_runs import folder_lock, jobs_in_slurm, living_runs

    left = jobs_in_slurm()
    if left:
        told = f"Slurm has jobs of another run in this folder. If that run was killed, run scancel {' '.join(left)}"
        complain(f"{told}; otherwise wait for it.")
        return 1
    check_is_no_config(next(iter(arguments), ""))
    arguments = [*_workflow(arguments), *with_profiles(arguments)]
    _check_configs(arguments)
    folder = Path(_named(arguments).directory)
    with folder_lock(folder) as hold:
        # Checked before looking for living runs: a lock that appears later belongs to a run that has just started.
        is_locked = any((folder / ".snakemake/locks").glob("*"))
        others = living_runs(folder)
        if others or hold is None:
            who = f" (process {others[0]})" if others else ""
            complain(f"another run is working in this folder{who}. Wait for it.")
            return 1
        return _run_alone(arguments, plain, is_locked, hold)


def _run_alone(arguments: Sequence[str], plain: bool, is_locked: bool, hold: Sequence[int]) -> int:
    """Remove the lock of a killed run, run Snakemake, and show the blankets found."""
    from ..workflow.compiled import compile_kernels
    from ..workflow.output_folder import check_state
    from .dry_run import LOOKS, show_plan
    from .process import run_to_end, safe_environment
    from .run_summary import show_blankets

    snakemake = [sys.executable, "-m", "snakemake"]
    if not any(map(_asks_for_output, arguments)):
        check_state(Path(_named(arguments).directory) / ".snakemake")
    if is_locked:
        complain("an earlier run was killed; continuing where it stopped.")
        unlock = [*snakemake, "--unlock", *arguments]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            # It inherits the lock on the folder: if it outlived this process, it would unlock the next run's folder.
            how = {"stdout": subprocess.DEVNULL, "stderr": said, "env": safe_environment(), "pass_fds": hold}
            unlocked = run_to_end(unlock, **how)
            said.seek(0)
            why = said.read().strip()
        if unlocked.stopped:
            complain(_STOPPED)
            return unlocked.code or 128 + unlocked.stopped
        if unlocked.code:
            print(why, file=sys.stderr)
            complain("the folder cannot be unlocked.")
            return unlocked.code
    if not any(_runs_no_jobs(word) or _OTHER_SOFTWARE.match(word) for word in arguments):
        compile_kernels()
    if not any(_CORES.match(word) for word in arguments):
        arguments = ["--cores", "all", *arguments]
    asked = [word for word in arguments if _asks_for_output(word)]
    if asked and not plain and {*asked} <= {*LOOKS}:
        ended = show_plan(snakemake, arguments, hold, lambda: _output_folder(arguments))
    elif plain or asked:
        ended = run_to_end([*snakemake, *arguments], env=safe_environment(), pass_fds=hold)
    else:
        from .live import run_watched

        ended = run_watched(snakemake, arguments, hold)
    if ended.stopped and ended.code:
        complain(_STOPPED)
    if ended.code == 0 and not any(map(_runs_no_jobs, arguments)):  # what stands would pass for this run's
        show_blankets(_output_folder(arguments))
    return ended.code


def _runs_no_jobs(word: str) -> bool:
    if word.startswith("--report-after-run"):
        return False
    return word.startswith(_NO_JOBS) or bool(_NO_JOBS_LETTERS.fullmatch(word))


def _asks_for_output(word: str) -> bool:
    return word.startswith(_OWN_OUTPUT) or bool(_OWN_LETTERS.fullmatch(word))


def _workflow(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that name our workflow and its config, as far as this folder and the others do not.

    Raises
    ------
    ConfigError
        If there is no config for our workflow, or more than one.
    """
    named = _named(arguments)
    if named.snakefile or any(Path(name).is_file() for name in _SNAKEFILES):
        return []
    found = ["--snakefile", workflow_file()]
    if not named.configfile:
        config = config_here(Path(named.directory))
        # With =, since Snakemake takes all words after the option for configs.
        found += [f"--configfile={config}"] if config.name != "config.yaml" else []
    return found


def _check_configs(arguments: Sequence[str]) -> None:
    """Raise `ConfigError` if a config of our workflow cannot be read; Snakemake might show a traceback instead."""
    from ..config.file import check_config_files

    named = _named(arguments)
    snakefiles = [named.snakefile] if named.snakefile else _SNAKEFILES
    used = next((path for path in map(Path, snakefiles) if path.is_file()), None)
    # The configs of another workflow are not ours to check.
    if used is not None and used.resolve() == Path(workflow_file()).resolve():
        check_config_files(named.configfile or [Path(named.directory) / "config.yaml"])


def _named(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the configs and folders that Snakemake's arguments name."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--snakefile", "-s")
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    parser.add_argument("--directory", "-d", default=".")
    return parser.parse_known_args(arguments)[0]


def _output_folder(arguments: Sequence[str]) -> Path:
    """Return the results folder that Snakemake's arguments and the config name."""
    import yaml

    named, output = _named(arguments), "results"
    for path in named.configfile or ["config.yaml"]:
        own = yaml.safe_load(Path(path).read_text(encoding="utf-8-sig"))
        output = own.get("output", output) if isinstance(own, dict) else output
    given = dict(setting.partition("=")[::2] for setting in named.config)
    return Path(named.directory) / given.get("output", output)
