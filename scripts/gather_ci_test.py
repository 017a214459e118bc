"""Rule gather_ci_test: join the results on the chunks of a wide table in one artefact."""

from blanketflow.workflow.stages.fold import on_one_fold
from blanketflow.workflow.stages.marginal import gather_parts

main = on_one_fold(gather_parts)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
