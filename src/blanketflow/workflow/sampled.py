"""Which searches take a sample of a data set's rows."""

from __future__ import annotations

from collections.abc import Iterable

from ..config.typed import Config


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
