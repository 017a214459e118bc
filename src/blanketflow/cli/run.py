"""``blanketflow run``: Snakemake with a display of its progress, then the blankets found."""

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

from ..core.errors import ConfigError
from .terminal import complain, is_terminal

_STOPPED = "stopped. The same command goes on from where it was."
#: Options by which Snakemake does something else than run jobs, or is asked for its own output.
_OWN_OUTPUT = (
    "--dry",
    "--quiet",
    "--verbose",
    "--print",
    "--debug",
    "--logger",
    "--lint",
    "--list",
    "--dag",
    "--d3dag",
)
_OWN_OUTPUT += ("--rulegraph", "--filegraph", "--summary", "--detailed-summary", "--unlock", "--report", "--archive")
_OWN_OUTPUT += ("--cleanup", "--delete", "--version", "--generate", "--containerize", "--edit", "--draft", "--touch")
_OWN_LETTERS = re.compile(r"-[a-zA-Z]*[nqplSDtv]")
#: Options that say how many jobs run at a time, or where that is said.
_CORES = re.compile(r"--(cores|jobs|profile|executor)\b|-[cje]")
#: Where Snakemake looks for a workflow.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
#: The workflow beside the package, where that was installed from a clone in editable mode.
_OURS = Path(__file__).parents[3] / "Snakefile"


class PassedOn(TyperCommand):
    """A command that passes on everything but its own options, in the order in which it was typed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own options; keep the others."""
        own = {name for param in self.get_params(ctx) for name in param.opts if name.startswith("-")}
        super().parse_args(ctx, [word for word in args if word in own])
        ctx.args = [word for word in args if word not in own]
        return ctx.args


def run(
    ctx: typer.Context, plain: Annotated[bool, typer.Option("--plain", help="show Snakemake's own output")] = False
) -> None:
    """Run the workflow, or go on with a killed run.

    Shows the progress, then the blankets found. All further arguments go to Snakemake, such as --cores 4
    --configfile my.yaml (snakemake --help lists them). Where nobody looks on, and with -n, --quiet and the like,
    Snakemake's own output is shown.
    """
    raise typer.Exit(_run(ctx.args, plain))


def _run(arguments: Sequence[str], plain: bool) -> int:
    """Run Snakemake where nobody else does; return its exit code."""
    from .others import held, jobs_in_slurm, living_runs

    left = jobs_in_slurm()
    if left:
        told = f"Slurm has jobs of another run in this folder. If that run was killed: scancel {' '.join(left)}"
        complain(f"{told}; else wait for it.")
        return 1
    arguments = [*_workflow(arguments), *arguments]
    _check_configs(arguments)
    folder = Path(_named(arguments).directory)
    with held(folder) as hold:
        # Looked for before those who live: a lock that comes later is that of a run that has just begun.
        is_locked = any((folder / ".snakemake/locks").glob("*"))
        others = living_runs(folder)
        if others or hold is None:
            who = f" (process {others[0]})" if others else ""
            complain(f"another run works in this folder{who}. Wait for it.")
            return 1
        return _run_alone(arguments, plain, is_locked, hold)


def _run_alone(arguments: Sequence[str], plain: bool, is_locked: bool, hold: Sequence[int]) -> int:
    """Clear the lock of a run that was killed, run Snakemake, and show the blankets found."""
    from ..workflow.output_folder import check_state
    from .process import run_to_end, safe_environment
    from .run_summary import show_blankets

    snakemake = [sys.executable, "-m", "snakemake"]
    if not any(map(_asks_for_output, arguments)):
        check_state(Path(_named(arguments).directory) / ".snakemake")
    if is_locked:
        complain("an earlier run was killed; going on from where it was.")
        unlock = [*snakemake, "--unlock", *arguments]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            # It holds the folder too: one that outlived this process would release the lock of the next run.
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
    if not any(_CORES.match(word) for word in arguments):
        arguments = ["--cores", "all", *arguments]
    if plain or not (is_terminal() and is_terminal(sys.stderr)) or any(map(_asks_for_output, arguments)):
        ended = run_to_end([*snakemake, *arguments], env=safe_environment(), pass_fds=hold)
    else:
        from .live import run_watched

        ended = run_watched(snakemake, arguments, hold)
    if ended.stopped and ended.code:
        complain(_STOPPED)
    if ended.code == 0:
        show_blankets(_output_folder(arguments))
    return ended.code


def _asks_for_output(word: str) -> bool:
    return word.startswith(_OWN_OUTPUT) or bool(_OWN_LETTERS.fullmatch(word))


def _workflow(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that lead to the workflow where it is not in this folder.

    Raises
    ------
    ConfigError
        If there is none, or no config for it.
    """
    named = [word for word in arguments if word in ("-s", "--snakefile") or word.startswith("--snakefile=")]
    if named or any(Path(name).is_file() for name in _SNAKEFILES):
        return []
    if not _OURS.is_file():
        raise ConfigError(
            "there is no workflow (Snakefile) in this folder, and the Python package does not hold it. Run this in a "
            "clone of blanketflow, or name its Snakefile: blanketflow run --snakefile <clone>/Snakefile --configfile "
            "my.yaml. Without a clone: blanketflow select and compare need no workflow."
        )
    is_configured = any(word.startswith("--configfile") for word in arguments) or Path("config.yaml").is_file()
    if not is_configured:
        raise ConfigError(
            "there is no config.yaml in this folder. Write one by blanketflow init data.csv --target y, then "
            "blanketflow run --configfile data.yaml."
        )
    return ["--snakefile", str(_OURS)]


def _check_configs(arguments: Sequence[str]) -> None:
    """Raise `ConfigError` if a config of our workflow cannot be read: Snakemake would show a traceback of some."""
    from ..config.file import check_config_files

    named = _named(arguments)
    snakefiles = [named.snakefile] if named.snakefile else _SNAKEFILES
    used = next((path for path in map(Path, snakefiles) if path.is_file()), None)
    if used is not None and used.resolve() == _OURS:  # the configs of another workflow are its own affair
        check_config_files(named.configfile or [Path(named.directory) / "config.yaml"])


def _named(arguments: Sequence[str]) -> argparse.Namespace:
    """Return what Snakemake's arguments say of configs and folders."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--snakefile", "-s")
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    parser.add_argument("--directory", "-d", default=".")
    return parser.parse_known_args(arguments)[0]


def _output_folder(arguments: Sequence[str]) -> Path:
    """Return the results folder that Snakemake's arguments lead to."""
    import yaml

    named, output = _named(arguments), "results"
    for path in named.configfile or ["config.yaml"]:
        own = yaml.safe_load(Path(path).read_text(encoding="utf-8-sig"))
        output = own.get("output", output) if isinstance(own, dict) else output
    given = dict(setting.partition("=")[::2] for setting in named.config)
    return Path(named.directory) / given.get("output", output)
