"""``blanketflow run``: runs Snakemake with a progress display, then prints the blankets."""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..core.errors import ConfigError
from ..core.printable import listed, printable
from ..workflow.layout import parse
from ..workflow.plan import FROM_NOTHING
from .options import check_is_no_config
from .progress import STAGES, Ended, Progress, followed, run_to_end, run_watched, safe_environment, stage_of
from .snakemake_arguments import SnakemakeArguments, snakemake_arguments
from .terminal import complain, heading, note, show, show_table, width

_STOPPED = "stopped. The same command continues where it stopped."
_WINDOWS = (
    "the workflow runs on Linux and macOS, not on Windows. Run this command in WSL, the Windows Subsystem for Linux. "
    "Other commands run here: blanketflow compare my.csv --target y --report report.html compares methods as well."
)


class PassedOn(TyperCommand):
    """A command that passes all arguments except its own options on, in their order."""

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

    Shows the progress, then the blankets. Other arguments are passed to Snakemake, such as --cores 4 --configfile
    my.yaml (snakemake --help lists them). -n lists the jobs without running them. Without a terminal each finished
    stage prints a line. --plain, --quiet and similar options show Snakemake's own output.
    """
    raise typer.Exit(_run(ctx.args, plain))


def _run(words: Sequence[str], plain: bool) -> int:
    """Run Snakemake unless another run works in the folder; return the exit code."""
    if sys.platform == "win32":
        raise ConfigError(_WINDOWS)
    left = jobs_in_slurm()
    if left:
        told = f"Slurm has jobs of another run in this folder. If that run was killed, run scancel {' '.join(left)}"
        complain(f"{told}; otherwise wait for it.")
        return 1
    check_is_no_config(next(iter(words), ""))
    arguments = snakemake_arguments(words)
    arguments.check_configs()
    arguments.check_executor()
    folder = arguments.directory
    with folder_lock(folder) as hold:
        # Checked before live runs: a lock that appears later belongs to a run that has just started.
        is_locked = any((folder / ".snakemake/locks").glob("*"))
        others = living_runs(folder)
        if others or hold is None:
            who = f" (process {others[0]})" if others else ""
            complain(f"another run is working in this folder{who}. Wait for it.")
            return 1
        return _run_alone(arguments, plain, is_locked, hold)


def _run_alone(arguments: SnakemakeArguments, plain: bool, is_locked: bool, hold: Sequence[int]) -> int:
    """Remove the lock of a killed run, run Snakemake, and show the blankets found."""
    from ..search.workers import compile_kernels
    from ..workflow.output_folder import check_state

    if not arguments.wants_output:
        check_state(arguments.directory / ".snakemake")
    if is_locked:
        complain("an earlier run was killed; continuing where it stopped.")
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            # It inherits the lock on the folder: outliving this process, it would unlock the next run's folder.
            how = {"stdout": subprocess.DEVNULL, "stderr": said, "env": safe_environment(), "pass_fds": hold}
            unlocked = run_to_end(arguments.command("--unlock"), **how)
            said.seek(0)
            why = said.read().strip()
        if unlocked.stopped:
            complain(_STOPPED)
            return unlocked.code or 128 + unlocked.stopped
        if unlocked.code:
            print(why, file=sys.stderr)
            complain("the folder cannot be unlocked.")
            return unlocked.code
    if arguments.runs_here:
        compile_kernels()
    if arguments.only_plans and not plain:
        ended = show_plan(arguments, hold)
    elif plain or arguments.wants_output:
        ended = run_to_end(arguments.command(), env=safe_environment(), pass_fds=hold)
    else:
        ended = run_watched(arguments, hold)
    if ended.stopped and ended.code:
        complain(_STOPPED)
    if ended.code == 0 and arguments.runs_jobs:  # what stands would pass for this run's
        show_blankets(arguments.output_folder())
    return ended.code


def jobs_in_slurm() -> list[str]:
    """Return the ids of pending or running Slurm jobs that an earlier run submitted from this folder."""
    if shutil.which("squeue") is None:
        return []
    asked = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--states=pending,running", "--format=%A|%Z|%k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listed.returncode and _has_run_on_slurm():
        why = listed.stderr.strip().partition("\n")[0]
        complain(f"cannot check whether Slurm has jobs of an earlier run ({why}); continuing.")
    jobs = [line.split("|", 2) for line in listed.stdout.splitlines()]
    # The executor's comments name the rule. A job without such a comment may be this command itself, submitted by hand.
    return list(dict.fromkeys(i for i, where, comment in jobs if where == str(Path.cwd()) and comment[:5] == "rule_"))


def _has_run_on_slurm() -> bool:
    """Whether a log of Snakemake in this folder names a run on Slurm."""
    logs = Path(".snakemake/log").glob("*.snakemake.log")
    return any("SLURM run ID" in log.read_text(encoding="utf-8", errors="replace") for log in logs)


@contextmanager
def folder_lock(folder: Path) -> Iterator[list[int] | None]:
    """Lock a folder against another ``blanketflow run``.

    Yields the file descriptors that the child must inherit, or None if another run holds the lock. The system releases
    it when the last process that inherited it ends. Otherwise runs started together might unlock each other.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        (folder / ".snakemake").mkdir(parents=True, exist_ok=True)
        file = open(folder / ".snakemake/blanketflow.lock", "ab")  # noqa: SIM115
    except (ImportError, OSError):  # Windows, or a read-only folder, which is reported for the results folder
        yield []
        return
    with file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            yield None
        except OSError:  # a file system without such locks
            yield []
        else:
            yield [file.fileno()]


def living_runs(folder: Path) -> list[int]:
    """Return the process ids of Snakemake runs in a folder."""
    import psutil

    here, found = folder.resolve(), []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:3])
        if is_snakemake and process.info["cwd"] and Path(process.info["cwd"]) == here:
            found.append(process.info["pid"])
    return found


#: Ids in which jobs of a stage differ, in order of importance.
_DIFFER = ("selector", "test", "dataset")
#: Snakemake's text after the path of a file.
_REMARK = re.compile(r" \([^()]*\)$")
#: Largest number of named ids per stage.
_NAMED = 12


def show_plan(arguments: SnakemakeArguments, hold: Sequence[int]) -> Ended:
    """Plan with Snakemake and print one row per stage, or Snakemake's message if there are no jobs."""
    with followed(arguments) as run:
        ended = run.run(hold=hold)
        progress = run.progress()
        if ended.code or not progress.total:
            run.show_output()
            return ended
        said = run.output.read_text("utf-8", "replace").splitlines()
    for line in progress.notes:
        note(line)
    n_jobs = sum(total for _, _, total in progress.stages())
    heading("1 job would run:" if n_jobs == 1 else f"{n_jobs:,} jobs would run:")
    show_table(["stage", "jobs", "of"], _rows(progress), right=(1,))
    for line in said:
        if FROM_NOTHING in line:  # of the whole plan, whatever stands
            show(f"All of it: {line}.")
    report = arguments.output_folder() / "report.html"
    show(f"Then see {report}. Nothing was run; --plain shows Snakemake's own list, with files and reasons.")
    return ended


def _rows(progress: Progress) -> list[tuple[str, str, str]]:
    """Return for each stage its number of jobs and their selectors, tests or data sets."""
    ids: dict[str, dict[str, None]] = {stage: {} for stage in STAGES}
    for job in progress.jobs.values():
        # A job for several selectors or tests has no such id, but its files have all of them.
        for of in [parse(_REMARK.sub("", path)).ids for path in job.output] or [job.wildcards]:
            name = next((of[key] for key in _DIFFER if key in of), None)
            if name is not None:
                ids[stage_of(job.rule)][printable(name)] = None
    rows = []
    for stage, _, total in progress.stages():
        rows.append((stage, f"{total:,}", listed(sorted(ids[stage]), _NAMED)))
    return rows


# --- the summary of a finished run: the answer, the blanket of every pair, the failures, and where the report is ------

#: Largest number of listed failures on evaluation splits; the report has all.
_MOST = 5


def show_blankets(folder: Path) -> None:
    """Print the answer and the final blanket of every pair, or the reason if there is none, then other failures.

    Findings about the table are printed on stderr.
    """
    from ..data.splits import FINAL
    from ..workflow.read_results import Results

    results = Results(folder)
    if not results.is_finished():
        return
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, selector, feature in results.rows("blankets", "dataset", "selector", "feature"):
        found.setdefault((dataset, selector), []).append(feature)
    said = results.rows("answers", "dataset", "warning", "answer", "scores", "evidence")
    answers = {dataset: texts for dataset, *texts in said}
    ended = results.rows("statuses", "dataset", "selector", "split", "stage", "status", "reason", "verdict")
    asked = results.config()
    skipped = {(dataset, selector): reason for dataset, selector, reason in asked["skipped"]}
    for dataset in asked["order"]["datasets"]:
        heading(f"\n{dataset}")
        warning, *answer = answers.get(dataset, [""])
        for line in results.look_first(dataset) if warning else ():
            note(f"{dataset}: {line}")
        for text in filter(None, answer):
            show(textwrap.fill(text, width(), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
        for selector in asked["order"]["selectors"]:
            pair = (dataset, selector)
            if pair in skipped:
                show(f"  {selector}: skipped, {skipped[pair]}")
                continue
            said = (row[4:] for row in ended if row[:4] == (*pair, FINAL, "select"))
            status, reason, verdict = next(said, ("", "", ""))
            if not status:
                show(f"  {selector}: no final blanket was asked for")
            elif pair not in found and not results.final_search(*pair).usable:
                show(f"  {selector}: failed, {reason}")
            else:
                features = found.get(pair, [])
                shown = ", ".join(features[:12]) + (", ..." if len(features) > 12 else "")
                careful = "" if status == "ok" else f" [{status}: {reason}]"
                show(
                    f"  {selector} ({len(features)}): {shown}{careful}"
                    if features
                    else f"  {selector}: no feature{careful}"
                )
                if verdict and verdict not in answer:
                    show(f"    {verdict}")
    _show_failures([row for row in ended if row[2] not in ("", FINAL) and row[4] in ("error", "timeout")])
    show(f"\nReport: {results.at('report')}")


def _show_failures(failed: Sequence[tuple[str, ...]]) -> None:
    """Print the failures on evaluation splits, which the tables omit, one line per pair and stage."""
    if not failed:
        return
    heading("\nFailed in the evaluation")
    counts = Counter((dataset, selector, stage) for dataset, selector, _, stage, *_ in failed)
    reasons = {(row[0], row[1], row[3]): row[5] for row in reversed(failed)}
    for (dataset, selector, stage), n in list(counts.items())[:_MOST]:
        show(f"  {dataset}, {selector}, {stage}, {n} of the splits: {reasons[dataset, selector, stage]}")
    if len(counts) > _MOST:
        show(f"  ... and {len(counts) - _MOST} more (tables/statuses.csv lists them)")
