"""Checks of combinations of keys and of unknown names; ranges of single keys are checked elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from ..core.errors import BlanketflowError, ConfigError, Faults, as_config_error, did_you_mean, shown
from ..core.metrics import METRICS
from ..core.rows import FORWARD, LEAVE_GROUP_OUT, why_no_splits
from ..models import get_model
from ..search.aggregate import check_rule
from .identifiers import entries
from .keys import MOST_PARTS, OF_FORWARD, SPLITS
from .typed import Selector

#: Largest depth of a configuration, and number of values with aliases expanded.
MOST_DEPTH, MOST_VALUES = 20, 1_000_000
#: Characters with a special meaning in Snakemake's paths.
READ_BY_SNAKEMAKE = "{}<>"
#: Documentation of outputs in other places.
_ELSEWHERE = "blanketflow explain docs/object-storage.md"


def check_size(raw: Any) -> None:
    """Raise `ConfigError` for YAML aliases that nest a list in itself or expand to millions of values."""
    n_values, level = 0, [raw]
    for _ in range(MOST_DEPTH):
        n_values += len(level)
        if n_values > MOST_VALUES:
            raise ConfigError(
                f"config: more than {MOST_VALUES:,} values. An anchor (&name, *name) may repeat too much."
            )
        held = (v.values() if isinstance(v, Mapping) else v for v in level if isinstance(v, Mapping | list | tuple))
        level = list(itertools.islice(itertools.chain.from_iterable(held), MOST_VALUES + 1))
        if not level:
            return
    raise ConfigError(f"config: nested more than {MOST_DEPTH} deep. An anchor (&name, *name) may hold itself.")


def checked_output(output: str) -> str:
    """Return the normalised path of the output folder.

    Raises `ConfigError` if it is not a folder of its own, or Snakemake would not accept it.

    >>> checked_output("results/first/")
    'results/first'
    """
    said = f"config: output is {shown(output)}"
    if "://" in output:
        raise ConfigError(f"{said}, a URL. Name a folder; {_ELSEWHERE} says how results get into object storage.")
    if output.startswith("~"):
        raise ConfigError(f"{said}, but ~ is not replaced by your home folder. Write the path in full.")
    taken = [c for c in output if c in READ_BY_SNAKEMAKE or not c.isprintable()]
    if taken:
        raise ConfigError(f"{said}, but a path here has no {shown(taken[0])}. Choose another name.")
    name = output.rstrip("/").rpartition("/")[2]
    if name.strip() in ("", ".", ".."):
        raise ConfigError(f"{said}, which is no folder of its own. Name one, such as results.")
    return output.rstrip("/")


def check_splits(splits: Mapping[str, Any], datasets: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `ConfigError` for splits without parts, and for test rows without matching splits."""
    if not splits["final"] and not splits["evaluation"]:
        raise ConfigError("config: splits asks for nothing. Set final: true or evaluation: 5.")
    are_given = splits["evaluation"] in (LEAVE_GROUP_OUT, FORWARD)
    if not are_given and splits["evaluation"] * splits["repeats"] > MOST_PARTS:
        raise ConfigError(f"config: splits.evaluation times splits.repeats is more than {MOST_PARTS:,}. Use fewer.")
    if splits["optimistic"] and not (splits["final"] and splits["evaluation"]):
        raise ConfigError(
            "config: splits.optimistic judges the final blanket on the evaluation splits. Set final: true and "
            "evaluation: 5, or remove it."
        )
    if (splits["evaluation"] == 1 or are_given) and splits["repeats"] > 1:
        where = f"config: splits.evaluation: {splits['evaluation']}"
        raise ConfigError(f"{where} has the same test rows each time. Remove splits.repeats.")
    unused = [key for key in OF_FORWARD if splits[key] != SPLITS[key][0]]
    if unused and splits["evaluation"] != FORWARD:
        raise ConfigError(f"config: splits.{unused[0]} is for evaluation: {FORWARD}. Set this, or remove {unused[0]}.")
    faults = Faults()
    for name, spec in datasets.items():
        with faults.noted():
            _check_parts(f"config: data set {name!r}", spec, splits["evaluation"], splits["time"])
    faults.refuse()


def _check_parts(where: str, spec: Mapping[str, Any], evaluation: int | str, time: str | None) -> None:
    """Raise `ConfigError` if a data set cannot be split as requested."""
    by_test_rows = evaluation == 1
    if evaluation == LEAVE_GROUP_OUT and spec["groups"] is None:
        raise ConfigError(
            f"{where} has no groups, of which splits.evaluation: {LEAVE_GROUP_OUT} holds out one after the other. "
            "Set groups to the column that names the site or patient, or evaluation: 5."
        )
    if evaluation == FORWARD and spec.get("time", time) is None:
        raise ConfigError(
            f"{where} has no time, by which splits.evaluation: {FORWARD} cuts its rows. Set splits.time to the column "
            "with the time of each row, or splits: {evaluation: 5}."
        )
    if evaluation != FORWARD and "time" in spec:
        way_out = f"Set it to {FORWARD}, or remove time"
        raise ConfigError(f"{where} has a time, but splits.evaluation is {evaluation}. {way_out}.")
    if by_test_rows and not spec["test_rows"]:
        raise ConfigError(
            f"{where} has no test_rows, which splits.evaluation: 1 tests on. Set them, or evaluation: 5 for a "
            "partition, 0 for none."
        )
    if spec["test_rows"] and not by_test_rows:
        raise ConfigError(f"{where} has test_rows, but splits.evaluation is {evaluation}. Set it to 1, or remove them.")
    if spec["test_rows"] and spec["groups"] is not None:
        raise ConfigError(f"{where} has test_rows, which may cut through its groups. Remove one of the two.")


def check_folds(top: Mapping[str, Any], selectors: Mapping[str, Selector]) -> None:
    """Raise `ConfigError` for a single inner fold, and for chunks with joined jobs."""
    if top["chunks"] and top["grain"] in ("split", "dataset"):
        raise ConfigError(f"config: chunks scatters what grain: {top['grain']} joins. Remove one of the two.")
    asked = {"config": top["folds"]}
    asked |= {f"config: selector {s.id!r}": s.folds for s in selectors.values() if s.folds != top["folds"]}
    faults = Faults()
    for where, folds in asked.items():
        if folds == 1:
            why = "folds is 1, but a partition needs at least 2 parts. Use 0 for all rows once."
            faults.note(ConfigError(f"{where}: {why}"))
    faults.refuse()


def check_confirm(selectors: Mapping[str, Selector], splits: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for `confirm` without a final blanket or with external results."""
    faults = Faults()
    for name, selector in selectors.items():
        where = f"config: selector {name!r}"
        if reason := why_no_splits(selector.confirm, selector.confirm_splits):
            faults.note(ConfigError(f"{where}: {reason}"))
        if selector.confirm is not None and not splits["final"]:
            why = "confirm tests the final blanket, which splits: {final: false} leaves out."
            faults.note(ConfigError(f"{where}: {why} Remove confirm, or set final: true."))
        if selector.confirm is not None and selector.supplied:
            why = "comes from outside, and may have seen the rows that confirm leaves out. Remove confirm."
            faults.note(ConfigError(f"{where}: {selector.supplied} {why}"))
    faults.refuse()


def check_names(selectors: Mapping[str, Selector], datasets: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for selectors of unknown data sets."""
    faults = Faults()
    for selector in selectors.values():
        for name in selector.datasets or ():
            if name not in datasets:
                told = f"unknown data set {shown(name)}. {did_you_mean(name, datasets)}"
                faults.note(ConfigError(f"config: selector {selector.id!r}: {told}"))
    faults.refuse()


def check_references(selectors: Mapping[str, Selector]) -> None:
    """Raise `ConfigError` for another selector with the id of a reference."""
    for name, what in (("all", "the baseline of all features"), ("none", "the reference without any feature")):
        methods = {selector.method.card.id for selector in selectors.values()}
        if name in selectors and name not in methods:
            raise ConfigError(f"config: selector {name!r} is {what}, which every evaluation has. Rename yours.")


def check_aggregate(rule: Any, where: str) -> None:
    """Raise `ConfigError` for an unknown aggregation rule."""
    try:
        check_rule(rule, where)
    except BlanketflowError as error:
        raise as_config_error(error) from error


def checked_tables(raw: Any) -> dict[str, dict[str, Any]]:
    """Return the further result tables by id; raises `ConfigError` unless each names a class and options."""
    faults = Faults()
    found = dict(entries("tables", {} if raw is None else raw, faults))
    for name, spec in found.items():
        if not isinstance(spec, Mapping) or ":" not in str(spec.get("type")):
            faults.note(
                ConfigError(f"config: tables.{name} needs a type, 'package.module:Class', but is {shown(spec)}.")
            )
    faults.refuse()
    return {name: {str(key): value for key, value in spec.items()} for name, spec in found.items()}


def checked_supplied(raw: Any, selectors: Mapping[str, Selector]) -> dict[str, str]:
    """Return the external stage of each selector; raises `ConfigError` unless both are known."""
    found: dict[str, str] = {}
    for one in raw if isinstance(raw, list) else [raw]:
        if not isinstance(one, Mapping) or one.keys() != {"selector", "stage"}:
            raise ConfigError(f"config: supplied must be {{selector: ..., stage: ...}}, but is {shown(one)}.")
        name, stage = one["selector"], one["stage"]
        if name not in selectors:
            raise ConfigError(f"config: supplied names the selector {shown(name)}. {did_you_mean(name, selectors)}")
        if stage not in ("grow", "shrink"):
            raise ConfigError(f"config: supplied: stage is {shown(stage)}, but must be grow or shrink.")
        if name in found:
            raise ConfigError(f"config: supplied names the selector {name!r} twice. With shrink, leave grow out.")
        found[name] = stage
    return found


def checked_models(asked: Any) -> list[str]:
    """Return the ids of the models; raises `ConfigError` unless they are known and distinct."""
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise ConfigError(f"config: models must be a list of names, such as [tree, svm], but is {shown(asked)}.")
    faults = Faults()
    with faults.noted():
        _check_distinct("models", asked)
    for name in asked:
        try:
            get_model(name)
        except BlanketflowError as error:
            faults.note(as_config_error(error, "config: models"))
    faults.refuse()
    return asked


def checked_metrics(asked: Any) -> list[str] | str:
    """Return ``auto`` or the ids of the metrics; raises `ConfigError` unless they are known and distinct."""
    if asked == "auto":
        return asked
    if not isinstance(asked, list) or not asked:
        raise ConfigError(f"config: metrics must be auto or a list of names, but is {shown(asked)}.")
    faults = Faults()
    for name in asked:
        if not isinstance(name, str) or name not in METRICS:
            faults.note(ConfigError(f"config: unknown metric {shown(name)}. {did_you_mean(name, METRICS)}"))
    with faults.noted():
        _check_distinct("metrics", asked)
    faults.refuse()
    return asked


def _check_distinct(key: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"config: {key} lists {twice!r} twice. Remove one.")
