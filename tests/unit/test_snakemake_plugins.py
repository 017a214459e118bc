"""A run, or a deployed folder, that needs a plugin of Snakemake says which, where the plugin is not installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from blanketflow.cli import main

REPO = Path(__file__).parents[2]
SLURM = "needs a plugin of Snakemake that is not installed. Install it: pip install 'blanketflow[slurm]'"


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Python with the packages of these tests, but for the Slurm executor's."""
    folder = tmp_path_factory.mktemp("without")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    for path in Path(pytest.__file__).parents[1].iterdir():
        if "executor_plugin_slurm" not in path.name and path.suffix != ".pth":
            (folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / path.name).symlink_to(
                path
            )
    return folder / "venv/bin/python"


def said_by(python, folder, *arguments):
    call = [python, "-m", "blanketflow.cli", *arguments]
    environment = {name: value for name, value in os.environ.items() if "SNAKEMAKE" not in name}
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(call, cwd=folder, env=environment | {"PYTHONPATH": str(REPO / "src")}, check=False, **how)
    return done.returncode, done.stdout


def test_a_deployed_folder_without_the_slurm_plugin(without, tmp_path):
    assert said_by(without, tmp_path, "deploy", "study")[0] == 0
    code, said = said_by(without, tmp_path / "study", "run", "--profile", "slurm", "-n")
    assert code == 1 and "invalid choice" not in said
    assert f"the executor 'slurm' of profiles/slurm/config.yaml {SLURM}" in " ".join(said.split())


def test_deploy_for_slurm_checks_before_it_writes(without, tmp_path):
    code, said = said_by(without, tmp_path, "deploy", "study", "--slurm")
    assert code == 1 and f"the executor 'slurm' {SLURM}" in " ".join(said.split())
    assert not (tmp_path / "study").exists()


def test_deploy_for_slurm_says_what_to_fill_in(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["deploy", "study", "--slurm"]) == 0
    said = capsys.readouterr()
    assert "slurm_account and slurm_partition in profiles/slurm/config.yaml" in said.out
    assert said.out.endswith("  blanketflow run --profile slurm\n")
    assert ("sbatch is not on this machine" in said.err) == (shutil.which("sbatch") is None)


@pytest.mark.parametrize(
    ("settings", "arguments", "where"),
    [
        ({}, ["--executor", "lsf"], ""),
        ({}, ["-e", "lsf"], ""),
        ({"profiles/mine": "lsf"}, ["--profile", "mine"], " of profiles/mine/config.yaml"),
        ({"profiles/mine": "lsf"}, ["--profile=profiles/mine"], " of profiles/mine/config.yaml"),
        ({"profiles/default": "lsf"}, [], " of profiles/default/config.yaml"),
        ({"other": "lsf"}, ["--workflow-profile", "other"], " of other/config.yaml"),
        (
            {"profiles/other": "lsf", "profiles/mine": "slurm"},
            ["--workflow-profile", "other", "--profile", "mine"],
            " of profiles/other/config.yaml",
        ),
        ({"home/snakemake/mine": "lsf"}, ["--profile", "mine"], " of {}/home/snakemake/mine/config.yaml"),
    ],
)
def test_a_plugin_is_named_wherever_the_executor_is_set(settings, arguments, where, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "config.yaml").write_text("datasets: {}\n", encoding="utf-8")
    for folder, executor in settings.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.yaml").write_text(f"executor: {executor}\n", encoding="utf-8")
    assert main(["run", "-n", *arguments]) == 1
    said = " ".join(capsys.readouterr().err.split())
    expected = (
        f"the executor 'lsf'{where.format(tmp_path)} needs a plugin of Snakemake that is not installed. Install it: "
    )
    assert f"{expected}pip install snakemake-executor-plugin-lsf" in said


def test_the_command_line_goes_before_a_profile(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profiles/mine").mkdir(parents=True)
    (tmp_path / "profiles/mine/config.yaml").write_text("executor: lsf\n", encoding="utf-8")
    (tmp_path / "config.yaml").write_text("datasets: {}\n", encoding="utf-8")
    main(["run", "-n", "--profile", "mine", "--executor", "local"])
    assert "needs a plugin" not in capsys.readouterr().err


def test_the_profile_says_what_to_install():
    """Its comment is all that plain snakemake leaves a reader with."""
    text = (REPO / "profiles/slurm/config.yaml").read_text(encoding="utf-8")
    assert "pip install 'blanketflow[slurm]'" in text and ".venv" not in text
    assert yaml.safe_load(text)["executor"] == "slurm"
