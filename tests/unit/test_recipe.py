"""What registries read agrees with pyproject.toml: the conda recipe, the citation, and the classifiers."""

import re
import tomllib
from pathlib import Path

import yaml

import blanketflow

REPO = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))
RECIPE = yaml.safe_load((REPO / "recipe/recipe.yaml").read_text("utf-8"))
#: Names of conda packages that differ from those of Python packages.
CONDA = {"snakemake": "snakemake-minimal"}


def in_conda(requirement):
    """A requirement as conda writes it."""
    name, least = requirement.split(">=")
    return f"{CONDA.get(name, name)} >={least}"


def test_the_recipe_asks_for_what_the_package_asks_for():
    python, *run = RECIPE["requirements"]["run"]
    assert run == [in_conda(line) for line in PROJECT["project"]["dependencies"]]
    assert python == "python >=${{ python_min }}"
    assert PROJECT["project"]["requires-python"] == f">={RECIPE['context']['python_min']}"
    assert [in_conda(line) for line in PROJECT["build-system"]["requires"]] == RECIPE["requirements"]["host"][2:]


def test_all_name_one_version():
    cited = yaml.safe_load((REPO / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == RECIPE["context"]["version"] == blanketflow.__version__


def test_the_classifiers_name_pythons_that_are_tested():
    """A newer one stands among the jobs first, and among the classifiers when that job has passed."""
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    jobs = yaml.safe_load((REPO / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]
    assert named == jobs["test"]["strategy"]["matrix"]["python"][: len(named)]
