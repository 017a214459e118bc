"""What a person may want to know who left the choice of the CI test to the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .terminal import note

#: The test that puts numbers into bins, the one for numbers, and the methods that can have either.
_BINS, _NUMBERS, _FAMILY = "g2", "fisher-z", "causal"


def advise_test(methods: Sequence[str], spec: Mapping[str, Any], how: str) -> None:
    """Say on stderr if methods will put the numbers of a table into bins where a test for numbers suits it.

    Parameters
    ----------
    methods : sequence of str
        Ids of methods that run with their own tests.
    spec : mapping
        Keys of the data set in config.yaml.
    how : str
        How another test is asked for.
    """
    from ..ci import get_ci_test
    from ..core.cards import NUMERIC
    from ..core.registry import discover
    from ..workflow.peek import peek
    from ..workflow.suitability import why_not_test

    known = discover("blanketflow.selectors")
    binning = [m for m in methods if m in known and (known[m].card.family, known[m].default_test) == (_FAMILY, _BINS)]
    if not binning:
        return
    facts = peek("table", spec)
    if NUMERIC in facts.kinds and not why_not_test(facts, get_ci_test(_NUMBERS)):
        told = f"{', '.join(binning)}: {_BINS} puts numbers into bins, which many rows are needed for"
        note(f"{told}. {_NUMBERS} suits these columns: {how}")
