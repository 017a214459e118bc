"""Makes a plan: reads the config, looks at the tables, checks both, and pairs data sets with selectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..config.checks import READ_BY_SNAKEMAKE
from ..config.reading import read_as_far_as_possible, read_config
from ..config.typed import Config
from ..core.errors import ConfigError, Faults, ParameterError, as_config_error, shown
from ..core.registry import further_table
from ..core.rows import LEAVE_GROUP_OUT
from ..data.download import with_copies
from ..data.gene_sets import gene_sets_asked, groups_of_sets
from ..data.input_file import existing_file
from ..data.labelled_samples import check_labels
from ..data.splits import check_folds
from ..reporting.tables import TABLES
from ..selectors.compatibility import why_a_group_is_never_admitted
from ..targets.joint import joint_name, joint_of
from .chosen_tests import with_chosen_tests
from .cost import LOADING, LOADING_MODELS
from .grain import DATASET, FOLD, SEVERAL, SPLIT
from .output_folder import check_apart, check_not_of_sources
from .peek import Facts, peek, peek_whole
from .specs import Plan, Skip, table_seed
from .suitability import why_no_evaluation, why_not


def make_plan(
    raw: Mapping[str, Any],
    scripts: Callable[[str], Path | str],
    fetch: Callable[[str, str], Path] | None = None,
) -> Plan:
    """Return the plan of a configuration.

    `scripts` returns the path of a script by file name, and `fetch` the local copy of a file in object storage by data
    set id and URL. Raises `ConfigError` or `DataError` with a line for each fault.
    """
    config = _read(raw)
    faults = Faults()
    for name, spec in config.tables.items():
        with faults.noted():
            _check_table(name, spec, config.splits["evaluation"])
    copies: dict[tuple[str, str], Path] = {}

    def copy_of(name: str, url: str) -> Path | str:
        if fetch:
            copies[name, url] = fetch(name, url)
        return copies.get((name, url), url)

    facts = {}
    for name, spec in config.datasets.items():
        with faults.noted():
            _check_files(config.output, name, spec)
            looked_at = name, with_copies(spec, partial(copy_of, name)), table_seed(config, name)
            facts[name] = peek(*looked_at)
            if config.splits["evaluation"] == LEAVE_GROUP_OUT and facts[name].n_groups is None:
                facts[name] = peek_whole(*looked_at)
    faults.refuse()
    plan = plan_of(config, facts, scripts)
    plan.copies = copies
    return plan


def _read(raw: Mapping[str, Any]) -> Config:
    """Return the checked configuration; its faults are reported together with those of local data sets."""
    faults = Faults()
    with faults.noted():
        return read_config(raw)
    datasets, files = read_as_far_as_possible(raw)
    for name, spec in datasets.items():
        if spec["path"] is not None and "://" not in spec["path"]:
            with faults.noted():
                peek(name, spec)
    for name, path in files.items():
        if "://" not in str(path):
            with faults.noted():
                existing_file(name, path, "path")
    faults.refuse()
    raise AssertionError("a fault was noted")


def _check_files(output: str, dataset: str, spec: Mapping[str, Any]) -> None:
    """Refuse files that the run itself makes or that Snakemake would not find."""
    for key in ("source", "path", "target_path"):
        if spec[key] is not None:
            _check_name(dataset, key, spec[key])
    check_labels(f"config: data set {dataset!r}", spec)
    if spec.get("labels"):
        _check_name(dataset, "path of labels", spec["labels"]["path"])
    if spec["path"] is not None:
        check_apart(output, dataset, spec["path"])
        check_not_of_sources(output, dataset, spec["path"])


def _check_table(name: str, spec: Mapping[str, Any], evaluation: int | str) -> None:
    """Refuse a further result table that cannot be made."""
    where = f"config: tables.{name}"
    if name in TABLES:
        raise ConfigError(f"{where} has the name of a result table that every run makes. Rename yours.")
    table = further_table(name, spec)
    for path in table.files():
        if not Path(path).is_file():
            raise ConfigError(f"{where}: there is no file {path}. Write it, or remove the key.")
    table.check(where, evaluation)


def _check_name(dataset: str, key: str, path: str) -> None:
    """Refuse characters that Snakemake reads as wildcard or flag; a URL may have them, since its file is a copy."""
    is_elsewhere = "://" in path and not path.startswith(("s3:", "duckdb:", "sqlite:"))
    taken = [] if is_elsewhere else [sign for sign in path if sign in READ_BY_SNAKEMAKE]
    if taken:
        raise ConfigError(
            f"config: data set {dataset!r} has the {key} {shown(path)}. Snakemake does not take {shown(taken[0])} in "
            "it as it is: rename the file or its folder."
        )


def _check_prior(plan: Plan, dataset: str, selector: str) -> str | None:
    """Refuse prior knowledge of features that the table lacks; return why a selector admits none of a group."""
    names, prior = plan.facts[dataset].feature_names, plan.config.prior(dataset, selector)
    spec = plan.config.datasets[dataset]
    target = joint_name(joint_of(spec)) or spec["target"]
    if target is None:  # which the source names: the jobs check the tiers
        prior = replace(prior, tiers=())
    if prior and names is not None:
        try:
            known = prior.of(names, f"config: selector {selector!r} on data set {dataset!r}", target or "")
        except ParameterError as error:
            raise as_config_error(error) from error
        method, test = plan.selector(selector).method, plan.config.test(dataset, selector)
        return why_a_group_is_never_admitted(method, test, known.feature_groups)
    return None


def _check_joined_splits(plan: Plan) -> None:
    """Refuse to join the splits of data sets with different splits: one rule lists the files of all of them."""
    asking = [name for name, selector in plan.config.selectors.items() if selector.grain == DATASET]
    if asking and len(set(plan.grains.n_splits.values())) > 1:
        raise ConfigError(
            f"config: selector {asking[0]!r} has grain: {DATASET}, but with splits.evaluation: {LEAVE_GROUP_OUT} the "
            "data sets have different numbers of splits. Set grain to auto or split."
        )


def plan_of(config: Config, facts: dict[str, Facts], scripts: Callable[[str], Path | str]) -> Plan:
    """Return the plan of a checked configuration and its facts; raises as `make_plan` does."""
    config, facts = with_gene_sets(config, facts)
    config = with_chosen_tests(config, facts)
    plan, faults = Plan(config, facts, scripts), Faults()
    for dataset in config.datasets:
        with faults.noted():
            _pair(plan, dataset)
    faults.refuse()
    _check_joined_splits(plan)
    return plan


def with_gene_sets(config: Config, facts: dict[str, Facts]) -> tuple[Config, dict[str, Facts]]:
    """Return a configuration whose `feature_groups` are those of the .gmt files that it names, and facts that say so.

    Raises `ConfigError` or `DataError` with a line for each data set whose gene sets cannot be groups.
    """
    datasets, known, faults = dict(config.datasets), dict(facts), Faults()
    for name, spec in config.datasets.items():
        asked, features = gene_sets_asked(spec.get("feature_groups")), facts[name].feature_names
        if asked is None:
            continue
        with faults.noted():
            if features is None:
                raise ConfigError(f"{name}: the table's features have no names, and gene sets need some.")
            groups, told = groups_of_sets(name, *asked, features)
            datasets[name] = {**spec, "feature_groups": groups}
            known[name] = replace(facts[name], of_groups=told or None)
    faults.refuse()
    return replace(config, datasets=datasets), known


def _pair(plan: Plan, dataset: str) -> None:
    """Add a data set's pairs to a plan; raises `ConfigError` if it has none or cannot be split as configured."""
    config, facts, faults = plan.config, plan.facts[dataset], Faults()
    for name, selector in config.selectors.items():
        if selector.datasets is not None and dataset not in selector.datasets:
            continue
        with faults.noted():
            reason = why_not(dataset, facts, selector, config) or _check_prior(plan, dataset, name)
            if reason:
                plan.skipped.append(Skip(dataset, name, reason))
            else:
                plan.pairs.append((dataset, name))
    faults.refuse()
    folds = plan.numbers_of_folds(dataset)
    if not folds:
        reasons = "; ".join(f"{s.selector}: {s.reason}" for s in plan.skipped if s.dataset == dataset)
        raise ConfigError(f"config: no selector can run on data set {dataset!r} ({reasons}).")
    if reason := why_no_evaluation(facts, config):
        raise ConfigError(f"config: data set {dataset!r}: {reason}.")
    check_folds(facts, config.splits, folds, dataset)


# --- approximate duration of a whole run, from the estimates by which the plan merges and splits its jobs -------------

#: Marks the line of `cost_of`.
FROM_NOTHING = "of CPU time from nothing"


def run_seconds(plan: Plan) -> float:
    """Return the approximate CPU seconds of a run from scratch, without Snakemake's own work."""
    seconds = sum(LOADING + plan.estimates.work_seconds("table", {"dataset": dataset}) for dataset in plan.facts)
    tested = {(d, test, plan.selector(s).folds) for d, s in plan.pairs if (test := plan.test_id(d, s))}
    for dataset, test, folds in tested:
        n_splits = len(plan.splits(dataset))
        n_parts = max(folds, 1) * n_splits
        seconds += plan.estimates.work_seconds("ci_test", {"dataset": dataset, "test": test}, n_parts)
        n_jobs = {SEVERAL: 0, DATASET: 1, SPLIT: n_splits, FOLD: n_parts}
        seconds += LOADING * n_jobs.get(plan.grains.of_test(dataset, test), n_parts)
    return seconds + sum(pair_seconds(plan, *pair) for pair in plan.pairs) + 2 * LOADING_MODELS


def cost_of(plan: Plan, cores: int) -> str:
    """Return a line with the approximate cost of a run, before it starts."""
    seconds = run_seconds(plan)
    numbers = sorted(set(plan.grains.n_splits.values()))
    n_splits = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    n_pairs = f"{len(plan.pairs):,} searches of {n_splits} splits each" if numbers[-1] else "no search"
    said = f"{n_pairs}: about {duration(seconds)} {FROM_NOTHING}"
    return said if cores == 1 else f"{said}, {duration(seconds / cores)} on {cores} cores"


def duration(seconds: float) -> str:
    """Return seconds in words, as in an estimate.

    >>> duration(0.2), duration(42), duration(400), duration(9000), duration(720_000)
    ('under a second', '40 s', '7 min', '2.5 h', '200 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 100:
        return f"{round(seconds) if seconds < 10 else round(seconds, -1):.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.2g} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"


def pair_seconds(plan: Plan, dataset: str, selector: str) -> float:
    """Return the approximate CPU seconds of all stages of a selector on a data set."""
    n_splits = len(plan.splits(dataset))
    n_parts = max(plan.selector(selector).folds, 1) * n_splits
    n_jobs = {SEVERAL: 0, DATASET: 1, SPLIT: n_splits, FOLD: n_parts}[plan.grains.of_selector(dataset, selector)]
    ids, n_tested = {"dataset": dataset, "selector": selector}, len(plan.evaluation_splits(dataset))
    seconds = 2 * LOADING * n_jobs + plan.estimates.work_seconds("grow_shrink", ids, n_parts)
    if plan.selector(selector).confirm is not None:
        seconds += plan.estimates.seconds("confirm", ids)
    return seconds + (plan.estimates.seconds("evaluate", ids, n_tested) if n_tested else 0.0)
