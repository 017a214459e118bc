# Makes the plan from the config, or prints a line for each error in it.
#
# inputs:  the config
# outputs: none

import contextlib
import sys

from snakemake.logging import logger

from blanketflow.config.file import check_config_files
from blanketflow.core.errors import BlanketflowError
from blanketflow.workflow import up_to_date
from blanketflow.workflow.output_folder import (
    RunLock,
    bring_back,
    check_folder,
    check_foreign,
    check_results,
    check_state,
)
from blanketflow.workflow.plan import cost_of, make_plan

NOTE, REFUSAL = "note", "refusal"  # kinds of messages that `blanketflow run` shows, too


@contextlib.contextmanager
def refusing():
    """Say what is wrong, and end. Raised, it would be told with the places in these files, or as one job's error."""
    try:
        yield
    except BlanketflowError as error:
        for line in error.lines:
            logger.error(line, extra={"event": REFUSAL})
        sys.exit(1)


# The example config is used only if no other is given, and never merged. A module is configured by the workflow that
# uses it.
if not workflow.modifier.skip_configfile:
    with refusing():
        check_config_files(workflow.overwrite_configfiles or ["config.yaml"])

if not workflow.overwrite_configfiles:

    configfile: "config.yaml"


with refusing():
    # Once, where the run is planned: not in each job and not in dry runs.
    works = workflow.is_main_process and not workflow.output_settings.dryrun
    if works:
        check_state()
    plan = make_plan(config, script_file, fetch)
    # The results of a module: the workflow that uses it may set a prefix.
    output = workflow.modifier.path_modifier.replace_prefix(
        f"{plan.config.output}/"
    ).rstrip("/")
    check_folder(output)
    if workflow.is_main_process:
        up_to_date.check_supplies(plan, output)
    if works:
        plan.check_times()
        bring_back(output)


is_here = workflow.storage_settings.default_storage_provider is None
compared = []


def compare():
    """Have Snakemake make again what stands and is not what is planned; once, when it asks for the first input.

    It then has its list of files to be made in any case, and has not decided yet which jobs need to run.
    """
    looks = workflow.is_main_process and workflow.execution_settings is not None
    if not looks or compared or not is_here:
        return
    with refusing():
        check_foreign(output, plan.config.allow_foreign_files)
        if works:
            RunLock(output, lambda line: logger.info(line, extra={"event": NOTE}))
        compared.append(up_to_date.check(plan, output, keep=works))
        workflow.dag.forcefiles.update(map(str, compared[0].forced))
        if compared[0].line():
            logger.info(compared[0].line(), extra={"event": NOTE})
        compared[0].refuse()


def say_plan():
    """Before anything is done: at the start of a run, and where one is only looked at."""
    for line in plan.notes():
        logger.info(line, extra={"event": NOTE})
    logger.info(cost_of(plan, max(workflow.resource_settings.cores or 1, 1)))


if workflow.is_main_process and workflow.output_settings.dryrun:
    say_plan()


onstart:
    say_plan()
    with refusing():
        check_results(output)


def remember():
    """Note what stands at the end, so that the next plan opens none of it."""
    if is_here:
        up_to_date.note(plan, output)


onsuccess:
    remember()


onerror:
    remember()
