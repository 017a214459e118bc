"""The record of public names, tests/public_names.yaml: what no release may drop without a warning in the one before.

`make release-check` adds the names of a release. tests/unit/test_deprecations.py compares it with what there is.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
import yaml

import blanketflow as bf
from blanketflow import ci, plugins
from blanketflow.api.arguments import sections
from blanketflow.cli import make_app
from blanketflow.config.keys import DATASET, SELECTOR, SPLITS, TOP
from blanketflow.core.registry import discover
from blanketflow.reporting.tables import TABLES

REPO = Path(__file__).parents[2]
RECORD = REPO / "tests/public_names.yaml"
CHANGELOG = REPO / "CHANGELOG.md"
_ENTRY = re.compile(r"^\.\. auto(?:function|class):: (\S+)\n(?: +:members: ([\w, ]+)\n)?", re.MULTILINE)
_HEAD = """\
# Every public name: functions with their parameters, classes with their members, keys, options, commands, columns.
# `make release-check` adds new names. GOVERNANCE.md says how a name is deprecated.
"""


def present() -> dict[str, list[str]]:
    """Return the public names that there are by where they are.

    Examples
    --------
    >>> "alpha" in present()["selector gs"]
    True
    """
    found = {"blanketflow": bf.__all__, "blanketflow.ci": ci.__all__, "blanketflow.plugins": plugins.__all__}
    for name, members in _ENTRY.findall((REPO / "docs/api.md").read_text(encoding="utf-8")):
        found[f"blanketflow.{name.removeprefix('blanketflow.')}"] = _within(name, members)
    methods = discover("blanketflow.selectors")
    own = {name: set(inspect.signature(getattr(bf, of.__name__)).parameters) for name, of in methods.items()}
    found["every selector"] = sorted(set.intersection(*own.values()))
    found |= {f"selector {name}": sorted(names - {*found["every selector"]}) for name, names in own.items()}
    for what, package in (("CI test", "ci"), ("model", "models")):
        found |= {f"{what} {name}": [*of.parameters()] for name, of in discover(f"blanketflow.{package}").items()}
    keys = {"config": TOP, "config datasets": DATASET, "config splits": SPLITS, "config selectors": SELECTOR}
    found |= {place: [*declared] for place, declared in keys.items()}
    commands = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
    found |= {f"command {name}": [o for p in of.params for o in p.opts] for name, of in commands.items()}
    found |= {f"table {name}": [*made.rows.columns, *made.rows.sometimes] for name, made in TABLES.items()}
    return {place: sorted({*names}) for place, names in found.items()}


def _within(name: str, members: str) -> list[str]:
    """Return the parameters, documented attributes and named members of an entry of docs/api.md."""
    module, _, attribute = f"blanketflow.{name.removeprefix('blanketflow.')}".rpartition(".")
    documented = getattr(importlib.import_module(module), attribute)
    heads = [line for line in sections(documented)[1].get("Attributes", "").splitlines() if line[:1].strip()]
    attributes = [one for head in heads for one in head.partition(" : ")[0].split(", ")]
    try:
        parameters = [*inspect.signature(documented).parameters]
    except ValueError:  # an error class without a constructor of its own
        parameters = []
    return [*parameters, *attributes, *filter(None, members.split(", "))]


def complaints(
    record: Mapping[str, Any], present: Mapping[str, list[str]], changelog: str, tests: Mapping[str, str]
) -> list[str]:
    """Return what is wrong with a record: names that are gone, deprecations without a warning or a release.

    Before the first release, names may go.

    Parameters
    ----------
    record : mapping
        `names` by place, `deprecated` names with `since` (a version) and `test` (a file that sees the warning), and
        `removed` names with `since`.
    present : mapping
        The names that there are by place.
    changelog : str
        CHANGELOG.md.
    tests : mapping
        The texts of the test files by path.

    Examples
    --------
    >>> gone = complaints({"names": {"config": ["folds", "seed"]}}, {"config": ["seed"]}, "## 0.2", {})
    >>> gone[0].partition(":")[0]
    'config folds is gone'
    """
    named = {f"{place} {name}" for place, names in record["names"].items() for name in ("", *names)}
    there = {f"{place} {name}" for place, names in present.items() for name in ("", *names)}
    deprecated, removed = (record.get(state) or {} for state in ("deprecated", "removed"))
    gone = named - there - {*removed} if is_released(changelog) else ()
    found = [f"{name.strip()} is gone: deprecate it first, for one release" for name in gone]
    found += [f"{name} is removed, but still there" for name in {*removed} & there]
    for name, entry in {**deprecated, **removed}.items():
        short = name.rpartition(" ")[2]
        section = re.search(rf"^## {re.escape(str(entry['since']))}(.*)\n((?:(?!## ).*\n?)*)", changelog, re.MULTILINE)
        if not section or not re.search(rf"(?i)deprecated.*`{re.escape(short)}`", section[2].replace("\n", " ")):
            found.append(f"{name} is not announced as deprecated in the changelog of {entry['since']}")
        elif name in removed and "not released" in section[1]:
            found.append(f"{name} is removed, but {entry['since']}, which warns of it, is not released")
        if name in deprecated and not re.search(
            rf"FutureWarning[\s\S]*{re.escape(short)}", tests.get(entry["test"], "")
        ):
            found.append(f"{name}: {entry['test']} does not see its FutureWarning")
    return sorted(found)


def is_released(changelog: str) -> bool:
    """Return whether the changelog has a release.

    Examples
    --------
    >>> is_released("## 0.2.0, not released yet")
    False
    """
    return bool(re.search("^## (?!.*not released)", changelog, re.MULTILINE))


def record() -> dict[str, Any]:
    """Return the record as it is committed."""
    return yaml.safe_load(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {"names": {}}


def main() -> None:
    """Add the names that there are to the record; nothing was promised before the first release."""
    known, now = record(), present()
    names = known["names"] if is_released(CHANGELOG.read_text(encoding="utf-8")) else {}
    merged = {place: sorted({*names.get(place, ()), *now.get(place, ())}) for place in sorted({*names, *now})}
    text = yaml.safe_dump({**known, "names": merged}, default_flow_style=None, width=118, sort_keys=False)
    RECORD.write_text(_HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
