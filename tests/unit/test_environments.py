"""What is installed where: the locks, the environments of `snakemake --sdm conda` and the images agree."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPO = Path(__file__).parents[2]
ENVS = REPO / "envs"
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PLATFORMS = {
    "linux-64": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"},
    "osx-arm64": {
        "sys_platform": "darwin",
        "platform_system": "Darwin",
        "platform_machine": "arm64",
        "os_name": "posix",
    },
}
LOCKS = {
    "requirements": ["build", "slurm"],
    "requirements-test": ["build", "slurm", "test"],
    "requirements-bench": ["build", "slurm", "test", "bench"],
    "requirements-docs": ["build", "slurm", "docs"],
    "requirements-audit": ["build", "slurm", "audit"],
    "requirements-release": ["build", "slurm", "release"],
}


def pins(lines):
    """The requirements of a lock, and the hashes of each."""
    found = {}
    for line in lines:
        requirement, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
        assert hashes and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes), line
        found[requirement.strip()] = set(hashes)
    return found


def lock(name):
    return pins((ENVS / f"{name}.lock").read_text().replace("\\\n", " ").splitlines())


def versions(lock):
    """A lock without its markers, which say less where more packages ask for the same one."""
    return {requirement.partition(" ;")[0]: hashes for requirement, hashes in lock.items()}


def conda(name):
    """The conda packages of an environment, and its lines for pip."""
    asked = yaml.safe_load((ENVS / f"{name}.yaml").read_text())["dependencies"]
    lines = [line for entry in asked if isinstance(entry, dict) for line in entry["pip"]]
    return {entry.split()[0]: entry for entry in asked if isinstance(entry, str)}, lines


def meant_for(requirements, platform, python):
    """Those of the requirements whose markers hold on a platform."""
    version = {"python_version": python, "python_full_version": f"{python}.9"}
    environment = default_environment() | PLATFORMS[platform] | version
    return [one for one in map(Requirement, requirements) if one.marker is None or one.marker.evaluate(environment)]


def installed(requirements, platform, python):
    """The version of each package that these pins install on a platform."""
    found = {}
    for requirement in meant_for(requirements, platform, python):
        name = canonicalize_name(requirement.name)
        assert name not in found, f"{name} is pinned twice for {platform}, Python {python}"
        (specifier,) = requirement.specifier
        assert specifier.operator == "=="
        found[name] = specifier.version
    return found


def unmet(asked, found):
    """Those of the requirements that a set of installed packages does not meet."""
    names = [(requirement, canonicalize_name(requirement.name)) for requirement in asked]
    return [str(wanted) for wanted, name in names if name not in found or not wanted.specifier.contains(found[name])]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", LOCKS)
def test_each_lock_meets_what_the_project_asks_for_on_both_platforms(name, platform, python):
    asked = PROJECT["dependencies"] + [line for extra in LOCKS[name] for line in EXTRAS[extra]]
    assert unmet(meant_for(asked, platform, python), installed(lock(name), platform, python)) == []


@pytest.mark.parametrize(
    "small, large", [("requirements", "requirements-test"), ("requirements-test", "requirements-bench")]
)
def test_a_larger_lock_holds_the_smaller_one(small, large):
    assert versions(lock(small)).items() <= versions(lock(large)).items()


def test_jobs_under_conda_have_the_locked_packages_without_snakemake():
    packages, lines = conda("blanketflow")
    assert versions(pins(lines)).items() <= versions(lock("requirements")).items()
    asked = [line for line in PROJECT["dependencies"] if not line.startswith("snakemake")]
    for platform in PLATFORMS:
        python = packages["python"].split()[1].removesuffix(".*")
        found = installed(pins(lines), platform, python)
        assert unmet(meant_for(asked, platform, python), found) == []
        # Snakemake hands a job an object of its own version; one that the environment brings would read it wrongly.
        assert not [name for name in found if name.startswith("snakemake")]
    assert "pip" in packages


def test_the_plan_under_conda_has_what_it_imports():
    """Everything that the Snakefile imports comes with Snakemake or is in its environment."""
    program = (
        "import sys, json; from pathlib import Path; before = set(sys.modules);"
        "from blanketflow.workflow.plan import make_plan; import yaml;"
        "make_plan(yaml.safe_load(Path('config.yaml').read_text()), Path('scripts').joinpath);"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True, check=True)
    owners = metadata.packages_distributions()
    imported = {canonicalize_name(owner) for name in json.loads(done.stdout) for owner in owners.get(name, [])}
    packages, _ = conda("plan")
    assert imported - with_its_dependencies("snakemake") - {"blanketflow"} <= set(packages)
    assert set(packages) <= {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}


def with_its_dependencies(name):
    found, todo = set(), {name}
    while todo:
        found |= todo
        lines = [line for one in todo for line in metadata.requires(one) or []]
        needed = [Requirement(line) for line in lines]
        needed = {canonicalize_name(r.name) for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})}
        todo = needed - found
    return found


def copied_to_the_image():
    """What Docker copies into the image, by source and place."""
    found = {}
    for line in re.findall("^COPY (.*)$", (REPO / "Dockerfile").read_text(), re.MULTILINE):
        *sources, place = line.split()
        found |= {source: f"{place}{source}" if place.endswith("/") else place for source in sources}
    return found


def test_docker_and_apptainer_make_the_same_image():
    docker, apptainer = (REPO / "Dockerfile").read_text(), (ENVS / "blanketflow.def").read_text()
    (copies,) = re.findall(r"^%files\n((?:    .*\n)*)", apptainer, re.MULTILINE)
    files = dict(line.split() for line in copies.splitlines())
    assert files == copied_to_the_image()
    (base,), (other) = (
        re.findall("^ARG BASE=(.*)\nFROM \\${BASE}$", docker, re.MULTILINE),
        re.findall("^From: {{ BASE }}\n\n%arguments\n    BASE=(.*)$", apptainer, re.MULTILINE),
    )
    assert [base] == other and docker.count("FROM") == 1
    (step,) = re.findall("^RUN (.*)$", docker, re.MULTILINE)
    assert f"%post\n    {step}\n" in apptainer
    allowed = re.findall("^!(.*)$", (REPO / ".dockerignore").read_text(), re.MULTILINE)
    assert sorted(allowed) == sorted(files)


def test_nobody_may_replace_the_compiled_kernels_of_the_image():
    filled = (ENVS / "fill-image").read_text()
    opened = re.findall(r"^chmod (?:-R )?(?:1777|a\+\w*w\w*|777|o\+w) (.*)$", filled, re.MULTILINE)
    assert opened == ["/home/blanketflow /study"] and "chmod -R go-w /opt/blanketflow" in filled


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A folder with the files that the image holds, and no others."""
    folder = tmp_path_factory.mktemp("image")
    for source in copied_to_the_image():
        if (REPO / source).is_dir():
            shutil.copytree(REPO / source, folder / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(REPO / source, folder / source)
    return folder


@pytest.mark.workflow
@pytest.mark.extended
def test_the_image_holds_what_the_workflow_needs_and_the_workflow_finds_its_package(image):
    """Snakemake plans the default config where blanketflow is not installed, as where conda installs the rest."""
    program = (
        "import sys; from pathlib import Path;"
        "sys.path = [path for path in sys.path if not (Path(path) / 'blanketflow').is_dir()];"
        "from snakemake.cli import main; main(['--dry-run', '--quiet', 'rules', '--cores', '1'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, cwd=image, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_image_holds_what_its_installation_needs(image):
    done = subprocess.run(["make", "--dry-run", "setup"], cwd=image, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for named in (PROJECT["readme"], *re.findall(r"-r (\S+)", done.stdout), *re.findall(r"sh (\S+)", done.stdout)):
        assert (image / named).is_file(), named


@pytest.mark.parametrize("script", ["check-wheels", "create-venv", "fill-image", "install", "make-locks"])
def test_scripts_are_valid_shell(script):
    done = subprocess.run(["sh", "-n", ENVS / script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
