"""Whatever calls `make` calls targets that there are: the README, `.ci/run` and the workflow for GitHub."""

import re
import subprocess
import tomllib

import yaml

from workflow_runs import PROJECT

#: The text of what calls `make`, by its name.
CALLERS = ["README.md", ".ci/run", ".github/workflows/ci.yml", ".github/workflows/release.yml"]
TEXTS = {name: (PROJECT / name).read_text("utf-8") for name in CALLERS}


def called(text):
    """The targets in lines of shell: `make one two`."""
    lines = re.findall(r"^\s*(?:- run: )?make ([a-z -]+)", text, re.MULTILINE)
    return {target for line in lines for target in line.split()}


def test_every_target_that_is_called_is_there():
    targets = set.union(*map(called, TEXTS.values()))
    assert {"run", "test", "test-extended", "docs", "audit", "test-cluster"} <= targets
    for target in sorted(targets | {"test-all", "bench", "release-check"}):
        dry = subprocess.run(["make", "-n", target], cwd=PROJECT, capture_output=True, text=True)
        assert dry.returncode == 0, dry.stderr


def test_github_does_what_ci_run_does_on_every_python():
    """A YAML parser reads the key `on` as true."""
    said = yaml.safe_load(TEXTS[".github/workflows/ci.yml"])
    assert set(said) == {"name", True, "permissions", "jobs"}
    (job,) = said["jobs"].values()
    checks = called(TEXTS[".ci/run"]) - {"test-cluster", "setup-docs", "setup-audit"}
    assert called(TEXTS[".github/workflows/ci.yml"]) == checks
    assert all(set(step) in ({"run"}, {"uses"}, {"uses", "with"}) for step in job["steps"])
    first = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert job["strategy"]["matrix"]["python"][0] == first.removeprefix(">=")
    assert "${{ matrix.python }}" in [step.get("with", {}).get("python-version") for step in job["steps"]]


def test_a_release_is_built_without_rights_and_only_what_was_attested_is_published():
    said = yaml.safe_load(TEXTS[".github/workflows/release.yml"])
    jobs = said["jobs"]
    rights = {name: job.get("permissions", said["permissions"]) for name, job in jobs.items()}
    signs = {"id-token": "write"}
    assert rights == {"build": {"contents": "read"}, "attest": signs | {"attestations": "write"}, "publish": signs}
    assert [jobs[name].get("needs") for name in rights] == [None, "build", "attest"]
    for name in ("attest", "publish"):  # no code of the repository runs with these rights
        assert not [step for step in jobs[name]["steps"] if "run" in step or "checkout" in step["uses"]]
    uploaded = {
        step["with"]["name"]: step["with"]["path"] for step in jobs["build"]["steps"] if "name" in step.get("with", {})
    }
    assert uploaded == {"packages": "build/release/first", "materials": "dist/sbom.json"}


def test_make_test_and_make_test_extended_share_all_tests_out():
    asked = re.findall(r'\$\(PYTEST\) -m "(.*)"', (PROJECT / "Makefile").read_text("utf-8"))
    assert asked == ["not extended and not cluster", "extended and not cluster", "not cluster"]
