"""A notebook that repeats the searches of a finished run, as nbformat 4.5."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import TYPE_CHECKING, Any

from ...core.cards import TASKS
from ...core.errors import DataError
from ...core.printable import printable
from ...core.prior import KEYS as PRIOR
from ..formatting import count

if TYPE_CHECKING:
    from .exported_run import ExportedRun

#: Keys of a data set that a search or other cells state, or that say nothing of how the table is read.
_STATED = {*PRIOR, "source", "path", "target_parts", "target_options", "target_kind", "task", "weights"}
_STATED |= {"weights_are", "missing", "imputations", "max_rows", "max_memory", "test_rows", "rows", "time"}
_USUAL = {"header": "names"}
#: Sources whose rows the run drew.
_DRAWN = ("simulate:", "network:")
#: A joint target has such parts.
_LABEL = "label "


def as_notebook(exported: ExportedRun) -> str:
    """Return a notebook that reads each table, repeats its search with all settings, and compares the answers.

    Raises
    ------
    DataError
        If a table is simulated, or an answer was not found by one search in rows.
    """
    run, known = exported.run, exported.run.provenance
    versions = ", ".join(f"{name} {version}" for name, version in sorted(known["packages"].items()))
    cells = [
        _words(
            f"# Features of {', '.join(exported.datasets)}",
            f"This notebook repeats a run of blanketflow {known['blanketflow']} on Python {known['python']} "
            f"({versions}). With the same versions features, importances and p-values are equal to the last bit.",
            "Paths are those of the configuration: start the notebook in the same folder, or change them.",
        ),
        _code("import pandas as pd\n\nimport blanketflow as bf"),
    ]
    for dataset in exported.datasets:
        cells += _of_table(exported, dataset, run.provenance["config"]["datasets"][dataset])
    book = {
        "cells": [{"id": f"cell-{at}", **cell} for at, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _of_table(exported: ExportedRun, dataset: str, spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cells that read a table, search it and compare."""
    run, card, selector = exported.run, exported.run.cards[dataset], exported.chosen(dataset)
    place = spec.get("source") or spec.get("path")
    if not place or place.startswith(_DRAWN):
        raise DataError(
            f"--to notebook reads tables again, but the rows of {dataset} are not in a file or database. Name another "
            "data set with --dataset."
        )
    if (search := run.searches.get(dataset, {}).get(selector)) is None:
        raise DataError(
            f"--to notebook repeats a search in rows, but {selector or 'no selector'} has none on {dataset} to repeat "
            "(blanketflow explain docs/identity.md). Name another with --selector."
        )
    target, rows = card["target"]["name"], count(card["n_rows"], "row")
    yield _words(
        f"## {dataset}",
        f'{rows}, {count(card["n_features"], "feature")}, target "{target}" ({card["task"]}), searched by {selector}.',
    )
    reading, of_rows = _reading(place, spec, card)
    yield _code(reading)
    yield _code(
        f"search = bf.Search.from_dict(\n{_indented(pformat(search, width=100, sort_dicts=False))}\n)\n"
        f"outcome = search.run(X, y, {', '.join(f'{key}={value}' for key, value in of_rows.items())})\n"
        'pd.DataFrame(outcome.chosen, columns=["feature", "role", "importance", "frequency"])'
    )
    yield _words(f"What {selector} selected in the run, most important first:")
    blankets = run.rows(run.tables["blankets"], dataset=dataset, selector=selector)
    yield _code(
        f"found = {pformat([*blankets['feature']], width=100, compact=True)}\n"
        'assert outcome.features == found, f"the run found {found}, but this search {outcome.features}"'
    )


def _reading(place: str, spec: Mapping[str, Any], card: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the source of the cell that reads a table, and what `run` is told of its rows."""
    given = {key: value for key, value in spec.items() if key not in _STATED and value not in (None, [], {})}
    keys = {key: value for key, value in given.items() if value != _USUAL.get(key)}
    target, parts = spec.get("target") or card["target"]["name"], dict(spec.get("target_parts") or {})
    of_target = [target, *parts.values()]
    roles = {key: spec[key] for key in ("groups", "within", "weights") if spec.get(key) is not None}
    if spec.get("time") is not None:
        keys["drop"] = [*keys.get("drop", []), spec["time"]]
    aside = list(dict.fromkeys([*of_target, *roles.values()]))
    arguments = "".join(f",\n    {key}={_indented(pformat(value), first=False)}" for key, value in keys.items())
    lines = [
        f"table = bf.read_table(\n    {place!r}{arguments},\n)",
        f"table = table.dropna(subset={of_target!r}, ignore_index=True)",
    ]
    if spec["missing"] == "drop":
        lines.append(f"table = table.dropna(subset=table.columns.difference({aside!r}), ignore_index=True)")
    options = spec.get("target_options") or {}
    lines.append(f"X, y = table.drop(columns={aside!r}), {_target(target, parts, options)}")
    of_rows = {"task" if card["task"] in TASKS else "target_kind": repr(card["task"])}
    of_rows |= {("sample_weight" if key == "weights" else key): f"table[{name!r}]" for key, name in roles.items()}
    if "weights" in roles:
        of_rows["weights_are"] = repr(spec["weights_are"])
    return "\n".join([*lines, "X.shape"]), of_rows


def _target(target: str, parts: Mapping[str, str], options: Mapping[str, Any]) -> str:
    """Return the expression of a target, with its parts by what they say, such as events."""
    if "order" in options:
        return f"table[{target!r}].astype(pd.CategoricalDtype({options['order']!r}, ordered=True))"
    if any(part.startswith(_LABEL) for part in parts):
        return f'{{"joint": table[{[target, *parts.values()]!r}]}}'
    if parts:
        columns = [f"{key!r}: table[{name!r}]" for key, name in {target: target, **parts}.items()]
        return "{" + ", ".join([*columns, *(f"{key!r}: {value!r}" for key, value in options.items())]) + "}"
    return f"table[{target!r}]"


def _indented(text: str, first: bool = True) -> str:
    return ("    " if first else "") + text.replace("\n", "\n    ")


def _words(*paragraphs: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(map(printable, paragraphs))}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
