"""Whether tests and methods suit a table, from their cards: the plan skips pairs by it and tells the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..ci import CITest, get_ci_test
from ..ci.choice import AUTO, INSTEAD
from ..ci.missing import with_incomplete
from ..config.typed import Config, Selector
from ..core.cards import CATEGORICAL, KINDS, NUMERIC, scored_as
from ..core.errors import did_you_mean
from ..core.registry import discover
from ..models import get_model
from ..models.metrics import resolve_metrics
from ..selectors.base import Method
from ..selectors.compatibility import (
    why_complete_rows,
    why_groups_are_ignored,
    why_no_feature_groups,
    why_no_strata,
    why_no_target,
    why_p_values_mislead,
    why_weights_are_refused,
)
from .chosen_tests import smallest_fold
from .identity import source_digests
from .peek import Facts

#: In larger tables, models are not trained on all features.
MOST_CELLS_OF_ALL = 250_000_000


def why_not(dataset: str, facts: Facts, selector: Selector, config: Config) -> str | None:
    """Return why a selector cannot run on a data set, or None if it can."""
    method = selector.method
    if reason := why_no_target(method, config.test(dataset, selector.id), facts.task):
        return reason
    if method.card.id == "all" and facts.n_rows * facts.n_features > MOST_CELLS_OF_ALL:
        return f"models of all {facts.n_features} features would take more than {MOST_CELLS_OF_ALL * 8 / 1e9:.0f} GB"
    if method.card.id == "true-blanket" and not method.options()["blanket"] and facts.truth is None:
        return "the true Markov blanket is not known"
    if method.card.id == "true-blanket" and facts.feature_names is not None:
        missing = [name for name in method.options()["blanket"] if name not in facts.feature_names]
        if missing:
            return f"no feature {missing[0]!r}. {did_you_mean(missing[0], facts.feature_names)}"
    if wants_network(method.options()) and facts.truth is None:
        return f"{method.card.id} needs the network behind the data, or arcs, and it is known for simulated data only"
    if method.options().get("law", "gaussian") != "gaussian" and NUMERIC in facts.kinds:
        return f"{method.card.id} with law: {method.options()['law']} takes no numeric features. Bin them before"
    test = config.test(dataset, selector.id)
    weights_are, confirm = config.datasets[dataset].get("weights_are"), selector.confirm is not None
    if reason := why_weights_are_refused(weights_are, method, test, confirm):
        return reason
    rule = config.incomplete(dataset)
    if reason := why_complete_rows(method, test, rule):
        return reason
    test = test and with_incomplete(test, rule)
    has_groups = bool(config.prior(dataset, selector.id).feature_groups)
    if has_groups and method.obeys_prior and (reason := why_no_feature_groups(method, test, selector.min_effect)):
        return reason
    within = config.datasets[dataset].get("within")
    if within is not None and (reason := why_no_strata(method, test, confirm)):
        return reason
    if test is None:
        return None
    if test.knows_clusters and config.datasets[dataset]["groups"] is None:
        return f"permute of {test.card.id} needs groups, and the data set has none"
    reason = why_not_test(facts, test, config.test_id(dataset, selector.id) or "")
    if reason and set(test.card.kinds) < set(KINDS):
        others = [name for name in INSTEAD if method.needs in get_ci_test(name).card.measures]
        return f"{reason}; set ci_test to {' or '.join(others)}" if others else reason
    return reason or test.why_not(method, facts.n_features)


def why_not_test(facts: Facts, test: CITest, name: str = "") -> str | None:
    """Return why a CI test cannot be used on a data set, or None if it can; `name` is its id in the config."""
    card = test.card
    if wants_network(test.options()) and facts.truth is None:
        return f"{name or card.id} needs the network behind the data, which is known for simulated data only"
    if card.max_classes is not None and (facts.n_classes or 0) > card.max_classes:
        return f"{card.id} takes targets of at most {card.max_classes} classes, this one has {facts.n_classes}"
    allowed = {*card.kinds, *([CATEGORICAL] if _levels_fit(facts, card.max_classes) else [])}
    excluded = [kind for kind in facts.kinds if kind not in allowed]
    if not excluded:
        return None
    limit = f" of more than {card.max_classes} levels" if CATEGORICAL in excluded and card.max_classes else ""
    return f"{card.id} takes no {' or '.join(excluded)} features{limit}"


def why_no_evaluation(facts: Facts, config: Config) -> str | None:
    """Return why the blankets of a data set cannot be evaluated as configured, or None if some can."""
    if not config.splits["evaluation"]:
        return None
    task = scored_as(facts.task)
    if config.models and not any(task in get_model(name).card.tasks for name in config.models):
        known = [name for name, found in discover("blanketflow.models").items() if task in found.card.tasks]
        such = "tree" if "tree" in known else known[0]
        return f"none of the models {', '.join(config.models)} does {task}. Add one, such as {such}"
    if not resolve_metrics(config.metrics, task):
        return f"none of the metrics {', '.join(config.metrics)} is one of {task}. Add one, or set metrics: auto"
    return None


def _levels_fit(facts: Facts, limit: int | None) -> bool:
    return limit is not None and facts.max_levels is not None and facts.max_levels <= limit


# --- the network behind the data, for tests that know the truth and methods that know the features' distribution ------


def wants_network(options: Mapping[str, Any]) -> bool:
    """Whether a test or a method was configured without the network that it needs.

    >>> wants_network({"network": None, "arcs": None}), wants_network({"network": None, "law": "gaussian"})
    (True, False)
    """
    is_asked = "network" in options and options.get("law", "network") == "network"
    return is_asked and options["network"] is None and options.get("arcs") is None


def network_of(method: Method, source: str | None) -> dict[str, Any]:
    """Return the data set's source as option `network` for a method that needs one and has none."""
    return {"network": source} if wants_network(method.options()) else {}


def network_file(method: Method) -> dict[str, list[str]]:
    """Return the digest of the network file that a method names; empty without one."""
    from ..data.sources import source_files

    named = method.options().get("network")
    return (
        {"network_file": source_digests(source_files("network", {"source": named}))} if isinstance(named, str) else {}
    )


#: The sample of rows if no search takes one.
MAX_ROWS_CHANGES_NOTHING = "max_rows changes nothing: no search fits models or compares rows with rows"


def doubted_p_values(
    config: Config, facts: Mapping[str, Facts], pairs: Iterable[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return by data set why p-values may be too small, without duplicates; ``auto`` must be replaced in `config`.

    Some tests reject too often with dependent features, and some ignore groups of rows.
    """
    said: dict[str, dict[str, None]] = {}
    for dataset, selector in pairs:
        test, spec = config.test(dataset, selector), config.datasets[dataset]
        if test is None:
            continue
        own = said.setdefault(dataset, {})
        own[why_test_misleads(config, facts[dataset], dataset, selector)] = None
        is_within = spec.get("within") == spec["groups"]  # what rows of a group have in common is conditioned on
        if spec["groups"] is not None and not is_within:
            own[why_groups_are_ignored(test, facts[dataset].n_groups, facts[dataset].task)] = None
    told = {dataset: [reason for reason in reasons if reason] for dataset, reasons in said.items()}
    return {dataset: reasons for dataset, reasons in told.items() if reasons}


def why_test_misleads(config: Config, known: Facts, dataset: str, selector: str) -> str:
    """Return why the p-values of a search's test do not control the error rate on a data set; empty if they do."""
    search = config.selectors[selector]
    table = None if search.ci_test == AUTO else known  # auto says it in its reason
    n_rows = smallest_fold(known, config, search)
    return why_p_values_mislead(search.method, config.test(dataset, selector), table, n_rows)


def told_of_sample(config: Config, dataset: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return a note on searches that use a sample of a data set's rows; empty without `max_rows`."""
    max_rows = config.datasets[dataset].get("max_rows")
    if max_rows is None:
        return ""
    own = [name for d, name in pairs if d == dataset]
    taking = [s for s in own if (config.test(dataset, s) or config.selectors[s].method).card.takes_max_rows]
    if not taking:
        return MAX_ROWS_CHANGES_NOTHING
    rest = "" if len(taking) == len(own) else "; the others take all rows"
    return f"beyond {max_rows:,} rows a stratified sample is taken by {', '.join(taking)}{rest}"
