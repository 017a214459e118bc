"""Which work on a data set with `shards` uses counts, and why other work reads rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..config.identifiers import TestOnRows
from ..config.typed import Config
from ..core.cards import PAIRWISE
from ..core.errors import ConfigError
from ..core.table import SAMPLING
from .grain import fold_ids, id_of_test


def shards(config: Config, dataset: str, test: str | None, selector: str | None = None) -> list[str]:
    """Return the ids of the counted blocks of rows of a ci_test artefact or search; none if it reads rows."""
    return [] if why_rows(config, dataset, test, selector) else fold_ids(config.datasets[dataset]["shards"])


def sharded(config: Config, dataset: str, test: str | None, selector: str | None = None) -> dict[str, int]:
    """Return the number of shards for a spec; empty if the work reads rows."""
    found = shards(config, dataset, test, selector)
    return {"shards": len(found)} if found else {}


def check_no_shards(config: Config) -> None:
    """Refuse shards where no jobs can count them."""
    for name, spec in config.datasets.items():
        if spec.get("shards"):
            raise ConfigError(f"{name}: shards are jobs of a workflow. Remove the key, or use blanketflow run.")


def told_of_shards(config: Config, dataset: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return a note on searches that read rows of a data set with shards; empty if there are none."""
    if not config.datasets[dataset].get("shards"):
        return ""
    own = [name for d, name in pairs if d == dataset and config.selectors[name].method.card.family != "reference"]
    why = {name: why_rows(config, dataset, id_of_test(config, dataset, name), name) for name in own}
    reading = [f"{name} ({reason})" for name, reason in why.items() if reason]
    return f"shards are not counted for {', '.join(reading)}" if reading else ""


def why_rows(config: Config, dataset: str, test: str | None, selector: str | None = None) -> str:
    """Return why a ci_test artefact or a search needs rows of a data set; empty if counts suffice."""
    spec = config.datasets[dataset]
    if not spec.get("shards"):
        return "there are no shards"
    if test is None:
        return "it has no CI test"
    on_rows = TestOnRows.of(test)
    configured = config.ci_tests[on_rows.test]
    if not configured.sums or configured.sums_by_kinds:
        return f"{configured.card.id} reads rows"
    if selector is not None and (reason := config.selectors[selector].method.why_rows(configured)):
        return reason
    keys = keys_that_need_rows(spec) + (["confirm"] if on_rows.confirm is not None else [])
    if selector is not None and not keys and config.prior(dataset, selector).feature_groups:
        keys = ["feature_groups"]
    return f"{keys[0]} reads rows" if keys else ""


def keys_that_need_rows(spec: Mapping[str, Any]) -> list[str]:
    """Return the keys of a data set that CI tests on counts do not support."""
    keys = [key for key in ("groups", "within", "feature_groups", "imputations") if spec.get(key)]
    keys += [f"weights_are: {SAMPLING}"] if spec.get("weights_are") == SAMPLING else []
    return keys + ([f"missing: {PAIRWISE}"] if spec.get("missing") == PAIRWISE else [])
