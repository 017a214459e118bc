"""The wheel: it holds the workflow, runs it in a folder without a clone, and gives the clone's results."""

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from forked import HANGS
from workflow_runs import PROJECT, assert_equal_results, configure, contents, wait_until

pytestmark = pytest.mark.workflow
PACKAGED = "blanketflow/workflow/packaged/"


def built(folder, *arguments):
    call = [sys.executable, "-m", "hatchling", "build", *arguments, "--directory", str(folder)]
    subprocess.run(call, cwd=PROJECT, check=True, capture_output=True, text=True)


@pytest.fixture(scope="session")
def wheel(made_once):
    """The wheel, built as `pip install` of a clone builds it."""
    (path,) = made_once("wheel", lambda folder: built(folder, "--target", "wheel")).glob("*.whl")
    return path


def files(folder):
    """The files of a folder by their paths in it, without what running them leaves."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_wheel_holds_the_package_and_the_workflow_of_the_top_level(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    workflow = {name: (PROJECT / name).read_bytes() for name in ("Snakefile", "CITATION.cff")}
    for folder in ("rules", "scripts", "profiles"):
        workflow |= {f"{folder}/{path}": content for path, content in files(PROJECT / folder).items()}
    workflow["config/config.yaml"] = (PROJECT / "config/config.yaml").read_bytes()  # what deploy writes
    asked = set(re.findall(r"envs/\w+\.yaml", "".join(text.decode() for text in workflow.values())))
    workflow |= {path: (PROJECT / path).read_bytes() for path in asked}
    assert {"envs/plan.yaml", "envs/blanketflow.yaml", "rules/plan.smk", "scripts/table.py"} <= set(workflow)
    pages = subprocess.run(["git", "ls-files", "docs/*.md"], cwd=PROJECT, capture_output=True, text=True).stdout.split()
    workflow |= {path: (PROJECT / path).read_bytes() for path in pages}
    assert {name.removeprefix(PACKAGED): held[name] for name in held if name.startswith(PACKAGED)} == workflow
    package = {f"blanketflow/{path}": content for path, content in files(PROJECT / "src/blanketflow").items()}
    assert {name: held[name] for name in held if not name.startswith(PACKAGED)} == package


@pytest.mark.extended
def test_an_sdist_builds_the_same_wheel(wheel, tmp_path):
    built(tmp_path, "--target", "sdist")
    (sdist,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path, filter="data")
    call = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(call, cwd=next(tmp_path.glob("blanketflow-*/")), check=True, capture_output=True)
    assert next(tmp_path.glob("*.whl")).read_bytes() == wheel.read_bytes()


@pytest.fixture(scope="session")
def installed(made_once, wheel):
    """The programs of a virtual environment into which pip put the wheel; other packages are those of these tests."""

    def fill(folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        # A path in a .pth file brings no .pth files of its own, and so not the clone.
        (packages / "others.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
        pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", wheel], check=True)
        copy_compiled_kernels(packages / "blanketflow/kernels")

    return made_once("installed", fill) / "bin"


def copy_compiled_kernels(kernels):
    """Take those of the clone: numba looks at a source's size and time."""
    own = PROJECT / "src/blanketflow/kernels"
    for path in own.glob("*.py"):
        shutil.copystat(path, kernels / path.name)
    shutil.copytree(own / "__pycache__", kernels / "__pycache__", ignore=shutil.ignore_patterns("*.pyc"))


def environment():
    """Without this clone, which other tests put on the search path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def blanketflow(installed, folder, *arguments):
    """Run the installed program; `stdout` has all that it says."""
    call = [installed / "blanketflow", *arguments]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": HANGS}
    return subprocess.run(call, cwd=folder, env=environment(), **how)


@pytest.fixture(scope="session")
def ran(installed, made_once, base_config):
    """A folder with a config alone, whose run was killed and then continued, without an option that names anything."""

    def fill(folder):
        configure(folder, base_config | {"grain": "dataset"})
        with open(folder / "log", "w") as log:
            call = [installed / "blanketflow", "run"]
            killed = subprocess.Popen(
                call, cwd=folder, env=environment(), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        wait_until(lambda: list(folder.glob("results/ci_test/**/*.parquet")), killed, folder / "log")
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        (folder / "said").write_text(blanketflow(installed, folder, "run", "--plain").stdout)

    return made_once("ran_from_the_wheel", fill)


@pytest.mark.extended
def test_a_killed_run_continues_and_its_results_and_digests_are_the_clones(ran, finished):
    said = (ran / "said").read_text()
    assert "The config is my.yaml." in said and "an earlier run was killed; continuing" in said
    assert "profiles/default for setting default" in said and said.rstrip().endswith("Report: results/report.html")
    assert_equal_results(contents(ran / "results"), contents(finished / "results"))
    clone = [sys.executable, "-m", "blanketflow.cli", "check"]
    done = subprocess.run(clone, cwd=ran, env=environment() | {"PYTHONPATH": str(PROJECT / "src")}, capture_output=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.extended
def test_snakemakes_report_a_dry_run_and_lint_from_the_wheel(ran, installed):
    assert "Nothing to be done" in blanketflow(installed, ran, "run", "-n").stdout
    assert blanketflow(installed, ran, "run", "--report", "out.zip").returncode == 0
    assert any(name.endswith("report.html") for name in zipfile.ZipFile(ran / "out.zip").namelist())
    assert blanketflow(installed, ran, "check").returncode == 0


@pytest.mark.extended
def test_what_init_writes_is_planned_and_so_is_a_run_on_slurm(installed, tmp_path):
    rows = [f"{i * i % 7},{i % 3},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "my.csv").write_text("\n".join(["x,z,y", *rows]), encoding="utf-8")
    assert blanketflow(installed, tmp_path, "init", "my.csv", "--target", "y").returncode == 0
    for more in ([], ["--profile", "slurm"]):
        done = blanketflow(installed, tmp_path, "run", "-n", "--plain", *more)
        assert done.returncode == 0 and "results/my/report.html" in done.stdout, done.stdout
    assert f"{PACKAGED}profiles/slurm" in done.stdout and f"{PACKAGED}profiles/default" in done.stdout


@pytest.mark.extended
def test_jobs_in_an_environment_without_blanketflow_find_the_installed_one(installed):
    """As those of --sdm conda: Snakemake hands them its own search path."""
    program = "import blanketflow as b, snakemake.common as c; print(b.__file__, c.get_snakemake_searchpaths())"
    done = subprocess.run([installed / "python", "-c", program], env=environment(), capture_output=True, text=True)
    file, _, paths = done.stdout.partition(" ")
    assert repr(str(Path(file).parents[1])) in paths and Path(file).is_relative_to(installed.parent)


@pytest.mark.extended
def test_a_deployed_project_runs_its_default_target_and_a_rule_of_its_own(installed, tmp_path, base_config):
    folder = tmp_path / "a study"
    said = blanketflow(installed, tmp_path, "deploy", "a study").stdout
    assert said.endswith("Next:\n  cd 'a study'\n  blanketflow run\n")
    dry = blanketflow(installed, folder, "run", "-n", "--plain").stdout
    assert "evaluate" in dry and "results/report.html" in dry and "packaged" not in dry.splitlines()[0]
    one = {"splits": {"evaluation": 0}, "folds": 0, "selectors": {"mrmr": {"method": "mrmr", "n_features": 2}}}
    configure(folder, base_config | one)
    (folder / "my.yaml").rename(folder / "config.yaml")
    with open(folder / "Snakefile", "a", encoding="utf-8") as file:
        file.write('rule own:\n    input: "results/tables/blankets.csv"\n    output: "own.txt"\n')
        file.write('    shell: "wc -l {input} > {output}"\n')
    done = blanketflow(installed, folder, "run", "--cores", "2", "all", "own")
    assert done.returncode == 0 and done.stdout.rstrip().endswith("Report: results/report.html"), done.stdout
    assert (folder / "own.txt").is_file()
    assert "Nothing to be done" in blanketflow(installed, folder, "run", "-n").stdout
