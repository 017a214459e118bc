"""``blanketflow run -n``: which jobs a run would do, how many, and about how long, without doing any."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..core.printable import listed, printable
from ..workflow.estimates.run_time import FROM_NOTHING
from ..workflow.layout import parse
from .followed import followed
from .process import Ended
from .progress import STAGES, Progress, stage_of
from .terminal import heading, note, show, show_table

#: Snakemake's options by which it only says what it would run.
LOOKS = ("-n", "--dry-run", "--dryrun")
#: What jobs of one stage differ in, in the order of importance.
_DIFFER = ("selector", "test", "dataset")
#: What Snakemake says behind the path of a file.
_REMARK = re.compile(r" \([^()]*\)$")
#: Ids that are named per stage.
_NAMED = 12


def show_plan(
    snakemake: Sequence[str], arguments: Sequence[str], hold: Sequence[int], output: Callable[[], Path]
) -> Ended:
    """Let Snakemake plan, and print a table with one row per stage; where no job is to run, what it says itself.

    `output` returns the folder of the results.
    """
    with followed(snakemake, arguments) as run:
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
    show(
        f"Then see {output()}/report.html. Nothing was run; --plain shows Snakemake's own list, with files and reasons."
    )
    return ended


def _rows(progress: Progress) -> list[tuple[str, str, str]]:
    """Return for each stage its number of jobs, and the selectors, tests or data sets that these are of."""
    ids: dict[str, dict[str, None]] = {stage: {} for stage in STAGES}
    for job in progress.jobs.values():
        # A job that does several things has no ids of its own, but makes files of all of them.
        for of in [parse(_REMARK.sub("", path)).ids for path in job.output] or [job.wildcards]:
            name = next((of[key] for key in _DIFFER if key in of), None)
            if name is not None:
                ids[stage_of(job.rule)][printable(name)] = None
    rows = []
    for stage, _, total in progress.stages():
        rows.append((stage, f"{total:,}", listed(sorted(ids[stage]), _NAMED)))
    return rows
