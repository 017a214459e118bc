"""blanketflow: from a table and a target to a Markov blanket, its honest evaluation and a report."""

import sys

from snakemake.utils import min_version

min_version("9.27")


# Imports of this file: by `snakemake --sdm conda`, and the adjacent package, which jobs find by the same search path.
conda: "envs/plan.yaml"


sys.path.append(f"{workflow.current_basedir.get_path_or_uri(secret_free=True)}/src")


report: "rules/captions/workflow.rst"


include: "rules/scheduler.smk"
include: "rules/files.smk"
include: "rules/plan.smk"


pathvars:
    results=plan.config.output,
    logs=f"{plan.config.output}/logs",
    benchmarks=f"{plan.config.output}/benchmarks",


include: "rules/common.smk"


# The first rule is the default target here, but not in a workflow that uses this one as a module.
rule all:
    input:
        at("report"),
        at("provenance"),
        expand(at("all_splits"), dataset=plan.config.datasets),
        TABLE_FILES,


include: "rules/data.smk"
include: "rules/counts.smk"
include: "rules/ci_test.smk"
include: "rules/select.smk"
include: "rules/aggregate.smk"
include: "rules/confirm.smk"
include: "rules/evaluate.smk"
include: "rules/report.smk"
