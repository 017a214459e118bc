"""The page of what each method and CI test takes beside a table, as they declare it and the contract tests show."""

from __future__ import annotations

from collections.abc import Mapping

from blanketflow.ci.base import CITest
from blanketflow.ci.missing import why_not_incomplete
from blanketflow.core.cards import IMPUTATIONS, PAIRWISE
from blanketflow.core.registry import discover
from blanketflow.selectors.base import Method
from blanketflow.selectors.compatibility import takes_min_effect, why_no_feature_groups, why_no_strata, why_no_weights

from .markdown import table
from .ways_in import ways_in

_TEXT = """# What each method takes beside a table

What [is known of features beforehand](prior-knowledge.md), [groups of features](feature-groups.md), [rows with weights
and groups](rows.md), [sampling weights and clusters](sample-design.md), [missing cells](missing.md), and [a smallest
effect, and a sample of many rows](many-rows.md).

**works** is what `tests/contract/test_prior_knowledge.py`, `test_feature_groups.py`, `test_row_weights.py`,
`test_sample_design.py`, `test_missing_cells.py` and `test_min_effect.py` show of every method. **refused** comes in
words, before any job starts: a run skips a method that refuses weights, `feature_groups` or missing cells as they are
on that data set, and `fit` raises `UnsupportedError`; `min_effect` is refused as an error of the config or of the
parameter. `max_rows` of a data set reaches the searches that take a sample; as a parameter the others refuse it.

- Groups of rows stay together in every split and fold, with any method. [`permute`](clusters.md) is for CI tests.
- With `n_features: auto` rankings refuse sampling weights.
- **Missing cells as they are** come with `missing: pairwise` and `imputations`. Otherwise cells are imputed, or their
  rows dropped, before a method sees them.
- [`confirm`](error-control.md#confirmation-on-rows-left-out) is refused with weights and with `within`.

## Ways in

Each is there in the selector classes (`fit`), the functions `bf.select`, `bf.blankets` and `bf.compare`, the commands
`blanketflow select` and `compare` (by `--data-set`), and the config of a run. What is refused is refused in words:
`bf.select` judges sets by models, and `fit` and `select` give one answer. `tests/contract/test_ways_in.py` tries every
cell.

{ways}

## Methods

{methods}

## Methods, rows and runs

As `test_sample_design.py`, `test_within_strata.py`, `test_missing_cells.py`, `test_several_targets.py`,
`test_confirmation.py` and `test_without_rows.py` show. Without a test that knows [clusters](sample-design.md), `groups`
come with a warning. [Counts in place of rows](shards.md) come with `shards` and `blanketflow count`.

{rows}

## CI tests

A method takes weights only with a test that takes them. With `ci_test: auto` such a test is chosen.

{tests}
"""


_LEARNS_FROM = {
    "rows": "rows",
    "tests": "tests of any columns",
    "triples": "tests of the target and two features",
}
_SUMS = {"": "nothing", "triples": "tables of counts", "cross-products": "cross products"}


def capabilities_page() -> str:
    """Return the page.

    Examples
    --------
    >>> "| [mim](methods/mim.md) | works | works | works | with fisher-z, g2 | refused: " in capabilities_page()
    True
    """
    methods, tests = discover("blanketflow.selectors"), discover("blanketflow.ci")
    obeys = {name: "works" if method.obeys_prior else "stays as it is" for name, method in methods.items()}
    weights = {name: _weights(method, tests.get(method.default_test or "")) for name, method in methods.items()}
    return _TEXT.format(
        ways=ways_in(),
        methods=table(
            [
                "method",
                "include and exclude",
                "feature_groups",
                "counts as weights",
                "sampling weights",
                "min_effect",
                "beyond max_rows",
                "missing cells as they are",
                "learns from",
            ],
            [
                [
                    f"[{name}](methods/{name}.md)",
                    obeys[name],
                    _refused(why_no_feature_groups(m(), None) if m.obeys_prior else None, obeys[name]),
                    weights[name],
                    _sampling(m, tests),
                    "works" if takes_min_effect(m) else "refused: decides by no p-values of a CI test",
                    _rows(m, tests),
                    _incomplete(m, tests),
                    _LEARNS_FROM["rows" if m().reads_rows() else m.learns_from],
                ]
                for name, m in methods.items()
            ],
        ),
        rows=table(
            ["method", "tiers", "groups", "within", "pairwise", "imputations", "several targets", "confirm", "shards"],
            [
                [
                    f"[{name}](methods/{name}.md)",
                    obeys[name],
                    _clusters(m, tests),
                    _within(m, tests),
                    *(_missing(m, tests, rule) for rule in (PAIRWISE, IMPUTATIONS)),
                    "works",
                    "works",
                    _shards(m, tests),
                ]
                for name, m in methods.items()
            ],
        ),
        tests=table(
            [
                "test",
                "feature_groups",
                "counts as weights",
                "sampling weights, and groups as clusters",
                "min_effect is compared with",
                "beyond max_rows",
                "missing cells as they are",
                "in place of rows",
            ],
            [
                [
                    f"[{name}](tests/{name}.md)",
                    "one joint variable" if test.joins_columns or test.card.column_sets else "the best of its columns",
                    "refused: draws, permutes or compares single rows" if test().draws_rows else "works",
                    _design(test),
                    test.card.effect or "refused: knows no size of an effect",
                    "a sample" if test.card.takes_max_rows else "all rows",
                    ", ".join(test.card.incomplete) or _refused(_why_complete(test()), ""),
                    _SUMS[test().sums] + (" for linear regressions" if test().sums_by_kinds else ""),
                ]
                for name, test in tests.items()
            ],
        ),
    )


def _refused(reason: str | None, otherwise: str) -> str:
    return f"refused: {reason}" if reason else otherwise


def _why_complete(test: CITest) -> str:
    return (why_not_incomplete(test, PAIRWISE) or "").partition(", so that")[0]


def _rows(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    if method.default_test is None:
        return "a sample" if method.card.takes_max_rows else "all rows"
    able = [name for name, test in tests.items() if test.card.takes_max_rows and method.needs in test.card.measures]
    return f"a sample with {', '.join(able)}" if able else "all rows"


def _sampling(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    if method.draws_rows:
        return "refused, as counts are"
    if reads := method().reads_rows():
        return f"refused: {reads}"
    able = [name for name, test in tests.items() if test.card.design_based and method.needs in test.card.measures]
    return f"with {', '.join(able)}" if method.default_test else "works"


def _design(test: type[CITest]) -> str:
    if test.card.design_based:
        return "works"
    if "permute" in test.parameters():
        return "weights refused, groups by `permute`, else ignored with a warning"
    return "weights refused, groups ignored with a warning"


def _incomplete(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    if method().needs_complete_rows():
        return "refused: looks at the rows"
    own = tests.get(method.default_test or "")
    return "works with another test than its own" if own and not own.card.incomplete else "works"


def _clusters(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    able = [name for name, test in tests.items() if test.card.design_based and method.needs in test.card.measures]
    return f"clusters with {', '.join(able)}" if method.default_test and able else "kept together"


def _within(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    able = [test() for test in tests.values() if method.default_test and method.needs in test.card.measures]
    reason = why_no_strata(method(), able[0] if able else None)
    if method.card.family == "reference":
        return "stays as it is"
    return _refused(reason, "works")


def _missing(method: type[Method], tests: Mapping[str, type[CITest]], rule: str) -> str:
    if method().needs_complete_rows():
        return "refused: looks at the rows"
    if not method.default_test:
        return "works"
    able = [name for name, test in tests.items() if rule in test.card.incomplete and method.needs in test.card.measures]
    return f"with {', '.join(able)}"


def _shards(method: type[Method], tests: Mapping[str, type[CITest]]) -> str:
    asked = [(name, test()) for name, test in tests.items() if method.default_test]
    able = [name for name, test in asked if method.needs in test.card.measures and not method().why_rows(test)]
    if able:
        return f"with {', '.join(able)}"
    of_rows = not method.default_test or method.learns_from == "rows" or method().reads_rows()
    return "refused: reads rows" if of_rows else "refused: asks for tables as it goes"


def _weights(method: type[Method], default_test: type[CITest] | None) -> str:
    if reason := why_no_weights(method, None):
        return f"refused: {reason}"
    own = default_test and why_no_weights(method, default_test())
    return f"works with another test than its own: {own}" if own else "works"
