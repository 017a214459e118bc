"""The form of the Snakemake workflow catalog: a deployed project plans everything that the workflow makes."""

import shutil

import pytest
import yaml

from forked import run_snakemake
from workflow_runs import PROJECT, environment

pytestmark = pytest.mark.workflow


def test_the_catalog_finds_what_it_asks_for():
    usage = yaml.safe_load((PROJECT / ".snakemake-workflow-catalog.yml").read_text("utf-8"))["usage"]
    assert usage["software-stack-deployment"]["conda"] is True and usage["report"] is True
    assert {"desc", "flags"} == set(usage["mandatory-flags"])
    for path in ("workflow/Snakefile", "config/config.yaml", "config/README.md"):
        assert (PROJECT / path).is_file()


@pytest.mark.extended
def test_what_snakedeploy_writes_plans_the_workflow(tmp_path):
    """It copies config/ and profiles/, and writes a Snakefile that uses ours as a module."""
    for name in ("config", "profiles"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text(
        f"""
configfile: "config/config.yaml"

module blanketflow:
    snakefile: "{PROJECT}/workflow/Snakefile"
    config: config

use rule * from blanketflow
""",
        encoding="utf-8",
    )
    done = run_snakemake(["--dry-run", "--cores", "1"], tmp_path, environment())
    assert done.returncode == 0 and "results/report.html" in done.stdout, done.stdout
    direct = run_snakemake(
        ["--dry-run", "--cores", "1", "--snakefile", f"{PROJECT}/workflow/Snakefile"], tmp_path, environment()
    )
    assert direct.returncode == 0 and "results/report.html" in direct.stdout, direct.stdout


def test_the_catalog_can_draw_the_rules(tmp_path):
    """Its own command, in a copy of the folder that it looks for."""
    shutil.copytree(PROJECT / ".test", tmp_path, dirs_exist_ok=True)
    asked = ["--snakefile", f"{PROJECT}/workflow/Snakefile", "-c", "1", "-d", ".", "--forceall", "--rulegraph"]
    done = run_snakemake(asked, tmp_path, environment())
    assert done.returncode == 0 and 'label = "report"' in done.stdout, done.stdout
