# What the other files of this folder share: wildcards of the plan, and the files of its jobs.
#
# inputs:  the plan, made by plan.smk
# outputs: none
#
# Which path an artefact has stands in blanketflow/workflow/layout.py; the rules name artefacts by its words.

from blanketflow.data.splits import FINAL
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.grain import any_of, fold_ids
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.layout import IDS


wildcard_constraints:
    **IDS
    | {
        "test": any_of(plan.grains.test_ids),
        "selector": any_of(plan.config.selectors),
        "paper": any_of(plan.config.printed),
    },


ENVIRONMENT = "../envs/blanketflow.yaml"
files = JobFiles(plan, "<results>/{}".format)
at = files.at
TABLE = at("table")
TABLE_FILES = [
    at(kind, table=table)
    for table in [
        *TABLES,
        *expand("paper_{paper}{of}", paper=plan.config.printed, of=["", "_claims"]),
    ]
    for kind in ("result_table", "result_table_csv")
]


def sources(wildcards):
    """The files that a data set is read from, which every run asks for first."""
    compare()
    return map(source_file, plan.source_files(wildcards.dataset))


def rows(wildcards):
    """What a job of one fold reads of its rows: the table, or counts of them."""
    return files.rows(dict(wildcards))


def splits(wildcards):
    """The splits with the number of folds that a job works on."""
    return files.splits(dict(wildcards))


def marginals(wildcards):
    """The ci_test artefacts that a job of a selector reads; none for methods without a test."""
    return files.marginals(dict(wildcards))


def stage(name):
    """The artefacts of one stage of one selector, split by split and fold by fold."""
    return lambda wildcards: files.of_folds(name, dict(wildcards))


def parts(folds=None):
    """What a job works on, as split/fold, in the order of its outputs; `folds` where its wildcards do not tell."""
    return lambda wildcards: list(map("/".join, files.folds(dict(wildcards), folds)))


def resources(stage, n_folds=None):
    """What the jobs of a rule ask a scheduler for, given the number of folds of a split unless the selector tells."""

    def asked(wildcards, attempt):
        ids = dict(wildcards)
        folds = n_folds and list(range(n_folds))
        n_parts = len(files.folds(ids, folds)) if "dataset" in ids else 1
        return plan.estimates.resources(stage, ids, n_parts, attempt)

    return {
        "mem_mb": lambda wildcards, attempt: asked(wildcards, attempt).mem_mb,
        "runtime": lambda wildcards, attempt: asked(wildcards, attempt).runtime,
    }


def joined(pattern, grain, **folds):
    """The paths of what one job does: all folds of a split, or of all splits."""
    ids = {"split": plan.splits(next(iter(plan.facts)))} if grain == "dataset" else {}
    return expand(pattern, **ids, **folds, allow_missing=True)


def grain_name(grain, n_folds):
    """What tells rules apart that join folds."""
    return f"dataset_{n_folds}" if grain == "dataset" else str(n_folds)


def grain_path(grain):
    """The folder of logs and benchmarks of such rules."""
    return "{dataset}" if grain == "dataset" else "{dataset}/{split}"
