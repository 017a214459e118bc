"""What to know about p-values and rows of searches: tests and groups that mislead, and samples of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..config.typed import Config
from ..selectors.compatibility import why_groups_are_ignored, why_p_values_mislead
from .peek import Facts

#: What a sample of rows is where no search takes one.
MAX_ROWS_CHANGES_NOTHING = "max_rows changes nothing: no search fits models or compares rows with rows"


def doubted_p_values(
    config: Config, facts: Mapping[str, Facts], pairs: Iterable[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return for each data set why p-values of its tests may be too small, each reason once.

    Some tests reject too often where features depend on each other, and some do not know groups of rows.

    Parameters
    ----------
    config : Config
        The configuration, with the tests that ``auto`` stands for.
    facts : mapping of str to Facts
        What a look at each data set found.
    pairs : iterable of (dataset, selector) ids
        What is run.
    """
    said: dict[str, dict[str, None]] = {}
    for dataset, selector in pairs:
        test, spec = config.test(dataset, selector), config.datasets[dataset]
        if test is None:
            continue
        own = said.setdefault(dataset, {})
        own[why_p_values_mislead(config.selectors[selector].method, test)] = None
        is_within = spec.get("within") == spec["groups"]  # what rows of a group have in common is conditioned on
        if spec["groups"] is not None and not is_within:
            own[why_groups_are_ignored(test, facts[dataset].n_groups)] = None
    told = {dataset: [reason for reason in reasons if reason] for dataset, reasons in said.items()}
    return {dataset: reasons for dataset, reasons in told.items() if reasons}


def told_of_sample(config: Config, dataset: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return in words which searches take a sample of a data set's rows; empty without `max_rows`."""
    max_rows = config.datasets[dataset].get("max_rows")
    if max_rows is None:
        return ""
    own = [name for d, name in pairs if d == dataset]
    taking = [s for s in own if (config.test(dataset, s) or config.selectors[s].method).card.takes_max_rows]
    if not taking:
        return MAX_ROWS_CHANGES_NOTHING
    rest = "" if len(taking) == len(own) else "; the others take all rows"
    return f"beyond {max_rows:,} rows a stratified sample is taken by {', '.join(taking)}{rest}"
