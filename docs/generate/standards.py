"""The table of docs/standards.md, and codemeta.json: made of the files that registries read; `make docs` writes both.

An item with `met` counts as met when the files say so; one without, when nothing of it is open.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .markdown import between, table

REPO = Path(__file__).parents[2]
_ADDRESS = "the address of the repository is not decided; "
_RELEASE = "nothing is released yet"
_PUBLIC = "the repository is not public yet"
_WORKFLOWS = "`.github/workflows/ci.yml`, `.github/workflows/scan.yml`, `.github/workflows/release.yml`"


class Facts(NamedTuple):
    """What the files say."""

    project: dict[str, Any]
    recipe: dict[str, Any]
    catalog: dict[str, Any]
    citation: dict[str, Any]
    workflows: str
    paper: str


class Item(NamedTuple):
    """A requirement, the evidence (paths and commands), and what is open and why."""

    what: str
    evidence: str = ""
    open: str = ""
    met: Callable[[Facts], bool] | None = None


STANDARDS: dict[str, tuple[Item, ...]] = {
    "Snakemake workflow catalog": (
        Item("`workflow/Snakefile`, `config/README.md`", "`workflow/Snakefile`, `config/README.md`"),
        Item(
            "settings with the present keys: `conda`, `apptainer`, `apptainer+conda`, `report`, `mandatory-flags`",
            "`.snakemake-workflow-catalog.yml`, `tests/workflow/test_catalog.py`",
            "a key is missing",
            lambda f: {"conda", "apptainer", "apptainer+conda"} == set(f.catalog["software-stack-deployment"]),
        ),
        Item(
            "at least one deployment works: `conda`",
            "`docs/environments.md`",
            "no deployment is stated",
            lambda f: any(f.catalog["software-stack-deployment"].values()),
        ),
        Item(
            "`apptainer`",
            open="stated as `false`: no image is published that a rule could name",
            met=lambda f: bool(f.catalog["software-stack-deployment"]["apptainer"]),
        ),
        Item("`snakemake --lint` and `snakefmt --check`", "`make lint`"),
        Item("deployed by snakedeploy", "`tests/workflow/test_catalog.py` (the files that it writes)"),
        Item(
            "a table of parameters on the catalog's page",
            open="the catalog reads `config/schemas/config.schema.yaml`; ours is `config/schema.json`",
            met=lambda f: (REPO / "config/schemas/config.schema.yaml").is_file(),
        ),
        Item(
            "a graph of the rules on the catalog's page", "`.test/config/config.yaml`, `tests/workflow/test_catalog.py`"
        ),
        Item(
            "linted and drawn on the catalog's own machine",
            open="the Snakefile imports NumPy; whether it is installed there could not be looked up",
        ),
        Item("listed", open=_PUBLIC),
    ),
    "Conda recipe": (
        Item("requirements are those of the package, with `license_file` and tests", "`tests/unit/test_recipe.py`"),
        Item("renders with the source archive and its hash", "`make release-check`"),
        Item(
            "`homepage` and `repository`",
            "`recipe/recipe.yaml`",
            _ADDRESS + "two lines of `recipe/recipe.yaml`",
            lambda f: {"homepage", "repository"} <= set(f.recipe["about"]),
        ),
        Item(
            "maintainers",
            "`recipe/recipe.yaml`",
            "nobody is named: `extra: recipe-maintainers` takes names of accounts",
            lambda f: bool(f.recipe["extra"]["recipe-maintainers"]),
        ),
        Item(
            "source archive by address and SHA-256",
            "`recipe/recipe.yaml`",
            _RELEASE,
            lambda f: {"url", "sha256"} <= set(f.recipe["source"]),
        ),
        Item(
            "built, and installed from a channel",
            open="only rendered: conda-forge and bioconda, which have what a build needs, could not be reached. "
            "`rattler-build build --recipe recipe -c conda-forge -c bioconda` builds it and runs its tests",
        ),
    ),
    "Package metadata": (
        Item("licence as an SPDX expression, classifiers, keywords, Python versions", "`tests/unit/test_recipe.py`"),
        Item("wheel and source archive accepted by the index's checker, description rendered", "`make release-check`"),
        Item("built twice, the same bytes", "`make release-check`"),
        Item(
            "a job that publishes by trusted publishing, with the index's attestations",
            "`.github/workflows/release.yml` (it has not run yet)",
            "no job publishes",
            lambda f: "attestations: true" in f.workflows and "environment: pypi" in f.workflows,
        ),
        Item(
            "installed from an index of one's own by a newcomer: `init`, `run`, `select`, a notebook page",
            "`make release-check`, `envs/try-release`",
        ),
        Item("typed", "`src/blanketflow/py.typed`, `make lint`"),
        Item(
            "addresses",
            "`pyproject.toml`",
            _ADDRESS + "`[project.urls]` of `pyproject.toml`",
            lambda f: bool(f.project.get("urls")),
        ),
        Item(
            "links of the description work on the index",
            "`README.md`",
            _ADDRESS + "links to `docs/` are relative, and lead nowhere on an index",
            lambda f: "](docs/" not in (REPO / "README.md").read_text(encoding="utf-8"),
        ),
    ),
    "Where it runs": (
        Item(
            "Linux, Python 3.11 to 3.13",
            "`.ci/run` (3.11), `tests/versions/compare.py` (the same results on each), `envs/try-release` (the wheel)",
        ),
        Item(
            "Python 3.14",
            "`pyproject.toml`",
            "no interpreter could be had to try it. Every locked package has a wheel but immutables, which Snakemake "
            "needs: that takes a C compiler (`envs/check-wheels`)",
            lambda f: "Programming Language :: Python :: 3.14" in f.project["classifiers"],
        ),
        Item(
            "macOS, Windows: every locked package has a wheel",
            "`envs/check-wheels` (all but connection-pool, one file of Python that comes as source everywhere)",
        ),
        Item(
            "Windows: the library imports nothing that only Unix has, and `run` says what to do instead",
            "`tests/unit/test_windows.py` (simulated on Linux)",
        ),
        Item("macOS and Windows: tried", open="no such machine could be had"),
    ),
    "The site": (
        Item("no dead link, each page on one shelf and named there", "`tests/unit/test_docs_pages.py`, `docs/conf.py`"),
        Item(
            "search; no request to the network; fits a telephone and a screen",
            "`tests/browser/test_site_in_browser.py`",
        ),
        Item("a page for what is not found", "`docs/404.html`"),
        Item(
            "several versions",
            open="each page names the version that it is of; a switch needs a host that keeps several, after a release",
        ),
    ),
    "scikit-learn-contrib": (
        Item(
            "estimator checks of scikit-learn for every method, but for those of weights where the test says why",
            "`tests/contract/test_selectors.py`",
        ),
        Item("guide, reference, examples", "`docs/library.md`, `docs/api.md`, `docs/tutorials/first-table.md`"),
        Item(
            "unit tests, PEP 8, continuous integration",
            "`make test`, `make lint`, `.ci/run`, `.github/workflows/ci.yml` (it has not run yet)",
        ),
        Item("on GitHub", open=_PUBLIC),
    ),
    "pyOpenSci": (
        Item(
            "README, licence, contributing, code of conduct, tests",
            "`README.md`, `LICENSE`, `CONTRIBUTING.md`, `CODE_OF_CONDUCT.md`, `make test`",
        ),
        Item("tutorials; a docstring with example for every public function", "`tests/unit/test_docs_api.py`"),
        Item("forms of issues and pull requests, governance", "`.github/ISSUE_TEMPLATE/bug.yml`, `GOVERNANCE.md`"),
        Item("installs from an index or channel; documentation online", open=_RELEASE),
        Item("use of language models described, and all of it reviewed by a person", open="for the authors to state"),
        Item("commitment to maintain it for two years", open="for the authors to state"),
    ),
    "JOSS": (
        Item(
            "paper of 750 to 1,750 words with the six required sections",
            "`paper/paper.md`, `tests/unit/test_standards.py`",
            "there is no paper",
            lambda f: bool(f.paper),
        ),
        Item(
            "authors with affiliations",
            "`paper/paper.md`",
            "nobody is named: the fields of `paper/paper.md`",
            lambda f: bool(f.paper) and "AUTHOR" not in f.paper,
        ),
        Item(
            "disclosure of generative AI: tools and versions, scope, review by a person",
            "`paper/paper.md`",
            "the paper says that it was used; tools, versions and the review are for the authors to state",
            lambda f: bool(f.paper) and "TO BE STATED" not in f.paper,
        ),
        Item(
            "built to PDF",
            open="built by pandoc and typst: four pages, every reference found. The journal's own builder is a "
            "container, which does not run here",
        ),
        Item(
            "public for six months, with releases, issues and pull requests",
            open=_PUBLIC + "; a submission before that is refused",
        ),
        Item("evidence of use in research", open="none outside the project's own studies"),
    ),
    "Citation": (
        Item("`CITATION.cff` with the version", "`tests/unit/test_recipe.py`"),
        Item(
            "authors as persons, with ORCID",
            "`CITATION.cff`",
            "one entity is named, no person: `family-names`, `given-names` and `orcid` of each author",
            lambda f: all("family-names" in author for author in f.citation["authors"]),
        ),
        Item("`codemeta.json` agrees with the package", "`codemeta.json`, `tests/unit/test_standards.py`"),
        Item("DOI", open=_RELEASE),
    ),
    "OpenSSF Scorecard": (
        Item(
            "actions pinned by digest",
            _WORKFLOWS,
            "an action is named by a tag",
            lambda f: not re.search(r"uses: (?!\S+@[0-9a-f]{40} # v\d)", f.workflows),
        ),
        Item("packages pinned by hash", "`envs/requirements.lock`, `tests/unit/test_environments.py`"),
        Item(
            "base image pinned by digest",
            "`Dockerfile`",
            "named by tag, so that a build has the latest fixes; `docs/environments.md` shows how to pin it",
            lambda f: "@sha256:" in (REPO / "Dockerfile").read_text(encoding="utf-8"),
        ),
        Item(
            "tokens with least rights",
            _WORKFLOWS,
            "a workflow does not limit them",
            lambda f: f.workflows.count("\npermissions:\n  contents: read\n") == f.workflows.count("\non:\n"),
        ),
        Item("updates of dependencies", "`.github/dependabot.yml` (actions, images), `envs/make-locks` (packages)"),
        Item(
            "code scanner",
            "`tests/unit/test_security.py` (lint rules), `.github/workflows/scan.yml` (CodeQL; it has not run yet)",
        ),
        Item("fuzzing", "`make fuzz`"),
        Item("known vulnerabilities, bill of materials", "`make audit`, `make sbom`"),
        Item("security policy, licence", "`SECURITY.md`, `LICENSE`"),
        Item("branch rules, review of every change", open=_PUBLIC + "; the rules are below"),
        Item("signed releases", open=_RELEASE + "; `CONTRIBUTING.md` asks for signed tags"),
        Item("a score", open=_PUBLIC + "; `.github/workflows/scan.yml` publishes it"),
    ),
    "OpenSSF best-practices badge": (
        Item("tests, reporting, policy, static analysis", "`CONTRIBUTING.md`, `SECURITY.md`, `make test`, `make lint`"),
        Item("the questionnaire", open="filled in by an owner, for a public address"),
    ),
    "SLSA": (
        Item("build scripted, and the same bytes twice", "`make release-check`"),
        Item(
            "a job that has the host sign the provenance and the bill of materials",
            "`.github/workflows/release.yml` (it has not run yet)",
            "no job attests",
            lambda f: "sbom-path: " in f.workflows and f.workflows.count("uses: actions/attest@") == 2,
        ),
        Item(
            "build level",
            open=_RELEASE + ": level 2 with the first release that `.github/workflows/release.yml` builds and attests",
        ),
    ),
}


def facts() -> Facts:
    """Return what the files say."""

    def text(path: Path) -> str:
        return path.read_text(encoding="utf-8")

    return Facts(
        project=tomllib.loads(text(REPO / "pyproject.toml"))["project"],
        recipe=yaml.safe_load(text(REPO / "recipe/recipe.yaml")),
        catalog=yaml.safe_load(text(REPO / ".snakemake-workflow-catalog.yml"))["usage"],
        citation=yaml.safe_load(text(REPO / "CITATION.cff")),
        workflows="\n".join(text(path) for path in sorted((REPO / ".github/workflows").glob("*.yml"))),
        paper=text(paper) if (paper := REPO / "paper/paper.md").is_file() else "",
    )


def is_met(item: Item, found: Facts) -> bool:
    """Return whether a requirement is met."""
    return item.met(found) if item.met else not item.open


def standards_text(present: str) -> str:
    """Return docs/standards.md with its tables.

    Examples
    --------
    >>> "| listed | **open** |" in standards_text("<!-- standards --><!-- end of standards -->")
    True
    """
    found, parts = facts(), []
    for standard, items in STANDARDS.items():
        rows = [
            (item.what, "met", item.evidence) if is_met(item, found) else (item.what, "**open**", item.open)
            for item in items
        ]
        n_met = sum(row[1] == "met" for row in rows)
        head = f"## {standard}\n\n{n_met} of {len(rows)} are met.\n\n"
        parts.append(head + table(["requirement", "", "evidence, or what is open"], rows))
    return between(present, "standards", "\n\n".join(parts))


def codemeta_text() -> str:
    """Return codemeta.json."""
    found = facts()
    described: dict[str, Any] = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": found.project["name"],
        "description": " ".join(found.citation["abstract"].split()),
        "version": found.citation["version"],
        "license": f"https://spdx.org/licenses/{found.project['license']}",
        "programmingLanguage": ["Python", "Snakemake"],
        "operatingSystem": "Linux",
        "developmentStatus": "active",
        "keywords": found.project["keywords"],
        "softwareRequirements": found.project["dependencies"],
        "author": [
            {"@type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
            if "family-names" in author
            else {"@type": "Organization", "name": author["name"]}
            for author in found.citation["authors"]
        ],
    }
    if urls := found.project.get("urls"):
        described["codeRepository"] = urls["Repository"]
    return json.dumps(described, indent=2) + "\n"


def main() -> None:
    """Write both."""
    page = REPO / "docs/standards.md"
    page.write_text(standards_text(page.read_text(encoding="utf-8")), encoding="utf-8")
    (REPO / "codemeta.json").write_text(codemeta_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
