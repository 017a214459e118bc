"""What to know about the rows of searches: groups that tests do not know, or know too few of, and samples of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..config.typed import Config
from ..selectors.design import why_groups_are_ignored
from .peek import Facts


def doubted_p_values(
    config: Config, facts: Mapping[str, Facts], pairs: Iterable[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return for each data set with groups why p-values of its tests may be too small, each reason once.

    Parameters
    ----------
    config : Config
        The configuration, with the tests that ``auto`` stands for.
    facts : mapping of str to Facts
        What a look at each data set found.
    pairs : iterable of (dataset, selector) ids
        What is run.
    """
    said: dict[str, list[str]] = {}
    for dataset, selector in pairs:
        test, spec = config.test(dataset, selector), config.datasets[dataset]
        is_within = spec.get("within") == spec["groups"]  # what rows of a group have in common is conditioned on
        if spec["groups"] is not None and not is_within and test is not None:
            reason = why_groups_are_ignored(test, facts[dataset].n_groups)
            if reason and reason not in said.setdefault(dataset, []):
                said[dataset].append(reason)
    return {dataset: reasons for dataset, reasons in said.items() if reasons}


def told_of_sample(config: Config, dataset: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return in words which searches take a sample of a data set's rows; empty without `max_rows`."""
    max_rows = config.datasets[dataset].get("max_rows")
    if max_rows is None:
        return ""
    own = [name for d, name in pairs if d == dataset]
    taking = [s for s in own if (config.test(dataset, s) or config.selectors[s].method).card.takes_max_rows]
    if not taking:
        return "max_rows changes nothing: no search trains models or compares rows with rows"
    rest = "" if len(taking) == len(own) else "; the others take all rows"
    return f"beyond {max_rows:,} rows a stratified sample is taken by {', '.join(taking)}{rest}"
