"""The page of what each method and CI test takes beside a table, as they declare it and the contract tests show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blanketflow.ci.base import CITest
from blanketflow.core.cards import IMPUTATIONS, PAIRWISE
from blanketflow.core.registry import discover
from blanketflow.selectors.base import Method
from blanketflow.selectors.compatibility import takes_min_effect, why_no_feature_groups, why_no_strata, why_no_weights

from .markdown import table
from .ways_in import ways_in

_TEXT = """# What each method takes beside a table

This page lists which methods and CI tests support [prior knowledge](prior-knowledge.md), [groups of
features](feature-groups.md), [weights and groups of rows](rows.md), [sampling weights and clusters](sample-design.md),
[missing cells](missing.md), [a smallest effect and a sample of many rows](many-rows.md), and [counts in place of
rows](shards.md).

**no** means that an error is raised before any job starts: a run skips a method that does not support weights,
`feature_groups` or missing cells on that data set, and `fit` raises `UnsupportedError`. `min_effect` is an error of the
configuration or of the parameter. Contract tests (`tests/contract/`) check every cell.

All methods support several targets and `confirm`, and keep the groups of rows together in every split and fold.
`include`, `exclude` and `tiers` work with all methods except the references `none` and `true-blanket`, which stay
unchanged. Further limits:

- With `n_features: auto`, rankings do not support sampling weights.
- [`confirm`](error-control.md#confirmation-on-rows-left-out) cannot be combined with weights or with `within`.
- [`permute`](clusters.md) is an option of CI tests.

## Interfaces

The interfaces are the selector classes (`fit`), the functions `bf.select`, `bf.blankets` and `bf.compare`, the commands
`blanketflow select` and `compare` (with `--data-set`), and the configuration of a run. `tests/contract/test_ways_in.py`
tries every cell.

{ways}

## Methods

Methods with the same entries share a row. A list of tests means that the option works with these tests. **max_rows**
says whether a method uses a sample where a data set sets `max_rows`. **missing cells** is about `missing: pairwise` and
`imputations`; with the other settings, cells are imputed or rows are dropped before a method sees the table.

- *no: single rows*: the method draws, permutes or compares single rows, so rows cannot have weights.
- *no: reads rows*: the method uses the rows themselves, beside or instead of a CI test.
- *no: own queries*: the method chooses its tests during the search, so counts cannot be made beforehand.

{methods}

## Methods and groups of rows

**groups**: a CI test that supports [clusters](sample-design.md) takes the groups into account; with any other test,
groups are only kept together, and a warning is issued. **within** tests [within strata](sample-design.md).

{rows}

## CI tests

A method supports weights only with a test that supports them; `ci_test: auto` chooses such a test.

{tests}
"""


_LEARNS_FROM = {
    "rows": "rows",
    "tests": "tests of any columns",
    "triples": "tests of the target and up to two features",
}
_SUMS = {"": "no", "triples": "tables of counts", "cross-products": "cross products"}
_SINGLE_ROWS, _READS_ROWS = "no: single rows", "no: reads rows"
Tests = Mapping[str, type[CITest]]


def capabilities_page() -> str:
    """Return the page.

    Examples
    --------
    >>> "[spfs-lar](methods/spfs-lar.md) | yes | yes | no: reads rows | no | all rows" in capabilities_page()
    True
    """
    methods, tests = discover("blanketflow.selectors"), discover("blanketflow.ci")
    return _TEXT.format(
        ways=ways_in(),
        methods=_grouped(
            [
                "methods",
                "feature_groups",
                "counts as weights",
                "sampling weights",
                "min_effect",
                "max_rows",
                "missing cells",
                "shards",
                "learns from",
            ],
            {
                name: [
                    _groups(m),
                    _weights(m, tests.get(m.default_test or "")),
                    _sampling(m, tests),
                    "yes" if takes_min_effect(m) else "no",
                    _rows(m, tests),
                    _missing(m, tests),
                    _shards(m, tests),
                    _LEARNS_FROM["rows" if m().reads_rows() else m.learns_from],
                ]
                for name, m in methods.items()
            },
        ),
        rows=_grouped(
            ["methods", "groups", "within"],
            {name: [_clusters(m, tests), _within(m, tests)] for name, m in methods.items()},
        ),
        tests=table(
            [
                "test",
                "feature_groups",
                "counts as weights",
                "sampling weights, clusters",
                "min_effect is compared with",
                "max_rows",
                "missing cells",
                "counts in place of rows",
            ],
            [
                [
                    f"[{name}](tests/{name}.md)",
                    "one joint variable" if test.joins_columns or test.card.column_sets else "the best of its columns",
                    _SINGLE_ROWS if test().draws_rows else "yes",
                    _design(test),
                    test.card.effect or "no: the test has no effect size",
                    "a sample" if test.card.takes_max_rows else "all rows",
                    ", ".join(test.card.incomplete) or "no",
                    _SUMS[test().sums] + (" for linear regressions" if test().sums_by_kinds else ""),
                ]
                for name, test in tests.items()
            ],
        ),
    )


def _grouped(head: Sequence[str], cells: Mapping[str, Sequence[str]]) -> str:
    """Return a table with one row for all methods whose cells are equal."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, row in cells.items():
        alike.setdefault(tuple(row), []).append(f"[{name}](methods/{name}.md)")
    return table(head, [(", ".join(names), *row) for row, names in alike.items()])


def _able(method: type[Method], tests: Tests) -> dict[str, type[CITest]]:
    return {name: test for name, test in tests.items() if method.default_test and method.needs in test.card.measures}


def _groups(method: type[Method]) -> str:
    if not method.obeys_prior:
        return "unchanged"
    return "no: single columns" if why_no_feature_groups(method(), None) else "yes"


def _rows(method: type[Method], tests: Tests) -> str:
    if method.default_test is None:
        return "a sample" if method.card.takes_max_rows else "all rows"
    able = [name for name, test in _able(method, tests).items() if test.card.takes_max_rows]
    return f"a sample with {', '.join(able)}" if able else "all rows"


def _weights(method: type[Method], default_test: type[CITest] | None) -> str:
    if why_no_weights(method, None):
        return _SINGLE_ROWS
    return "with other tests than its own" if default_test and why_no_weights(method, default_test()) else "yes"


def _sampling(method: type[Method], tests: Tests) -> str:
    if method.draws_rows:
        return _SINGLE_ROWS
    if method().reads_rows():
        return _READS_ROWS
    able = [name for name, test in _able(method, tests).items() if test.card.design_based]
    return ", ".join(able) if method.default_test else "yes"


def _design(test: type[CITest]) -> str:
    if test.card.design_based:
        return "yes"
    return "no weights; clusters by `permute`" if "permute" in test.parameters() else "no"


def _clusters(method: type[Method], tests: Tests) -> str:
    able = [name for name, test in _able(method, tests).items() if test.card.design_based]
    return f"clusters with {', '.join(able)}" if able else "kept together"


def _within(method: type[Method], tests: Tests) -> str:
    able = [test() for test in _able(method, tests).values()]
    if method.card.family == "reference":
        return "unchanged"
    return "no" if why_no_strata(method(), able[0] if able else None) else "yes"


def _missing(method: type[Method], tests: Tests) -> str:
    if method().needs_complete_rows():
        return _READS_ROWS
    if not method.default_test:
        return "yes"
    by_rule = {
        rule: ", ".join(name for name, test in _able(method, tests).items() if rule in test.card.incomplete)
        for rule in (PAIRWISE, IMPUTATIONS)
    }
    if len({*by_rule.values()}) == 1:
        return by_rule[PAIRWISE]
    return "; ".join(f"{rule}: {names}" for rule, names in by_rule.items())


def _shards(method: type[Method], tests: Tests) -> str:
    asked = [(name, test()) for name, test in tests.items() if method.default_test]
    able = [name for name, test in asked if method.needs in test.card.measures and not method().why_rows(test)]
    if able:
        return ", ".join(able)
    of_rows = not method.default_test or method.learns_from == "rows" or method().reads_rows()
    return _READS_ROWS if of_rows else "no: own queries"
