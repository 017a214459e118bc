"""What to know about p-values on data sets whose rows form groups: which tests do not know them, or know too few."""

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
