"""One selection on one table, without a workflow, for ``blanketflow select``."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import __version__
from ..ci.base import CITest
from ..ci.choice import AUTO
from ..ci.effect import why_p_values_do_not_select
from ..config.reading import checked_dataset, read_config
from ..config.typed import Config, Selector
from ..core.errors import ConfigError, RowsNeeded, UnsupportedError, shown
from ..core.limits import Limits, in_seconds
from ..core.printable import printable
from ..core.progress_lines import SILENT, Teller
from ..core.row_sample import sample_told, sampled
from ..core.stand_ins import StandIn, in_words, one_is_enough
from ..core.table import Table
from ..data.column_roles import max_memory
from ..data.dialect import found_line
from ..data.findings import Finding, findings, in_one_line
from ..data.impute import impute
from ..data.missing_markers import markers_told
from ..data.sources import read_source
from ..data.splits import rows_of_folds
from ..reporting.export import ExportedBlanket
from ..searches.aggregate import aggregate
from ..searches.run_fold import fold_seed, run_fold
from ..selectors.base import FoldOutcome, worst_status
from ..selectors.compatibility import (
    decides_by_p_values_alone,
    for_missing_cells,
    why_no_strata,
    why_weights_are_refused,
)
from ..selectors.judged.verdict import rests_on_in_words
from ..workflow.chosen_tests import with_chosen_tests
from ..workflow.notes_on_rows import doubted_p_values, told_of_sample
from ..workflow.peek import facts_of, peek
from ..workflow.sharded import check_no_shards
from ..workflow.workers import MANY, n_workers
from .curve import CURVE, curve
from .rows_in_blocks import blocks_beyond_memory, kept_of_blocks

#: One sign that YAML would read as no text, or not at all, such as a comma; its ~ is null.
_SIGN = re.compile(r"[^\w\s~]").fullmatch
#: Features of a blanket that a person is shown.
MOST_LISTED = 40


@dataclass(frozen=True, repr=False)
class Selection:
    """The blanket that was found, and how.

    `n_folds` is the number of folds whose blankets were combined; 0 for none. The rows of `blanket` are the features,
    most important first; with folds, frequency is the share of folds that hold the feature, importance the mean over
    these, and the rest is from the winning fold. `blankets` has the blanket of each fold, or all answers of a method
    that gives several. `ci_test_reason` says why the test was chosen; it is empty where it was asked for. `seconds` is
    wall time, `notes` say what to know about the table, and `verdict` what the method says of its answer, as `auto`
    does.
    """

    target: str
    task: str
    method: str
    ci_test: str | None
    ci_test_reason: str
    n_rows: int
    n_features: int
    n_folds: int
    blanket: list[dict[str, Any]]
    blankets: list[list[str]]
    status: str
    reason: str
    n_tests: int
    seconds: float
    seed: int
    notes: list[str] = field(default_factory=list)
    verdict: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.text()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain types."""
        return asdict(self)

    def text(self) -> str:
        """Return everything as text for a reader."""
        by = f"{self.method} with {self.ci_test}" if self.ci_test else self.method
        by += f" on {self.n_folds} folds" if self.n_folds else ""
        lines = [
            f"{printable(self.target)} ({self.task}): {len(self.blanket)} of {self.n_features} features, "
            f"{self.n_rows} rows, {by}, {self.n_tests} tests, {in_seconds(self.seconds)}"
        ]
        lines += [*self.remarks, *filter(None, [self.sentence, self.one_is_enough])]
        names = [printable(row["feature"]) for row in self.listed]
        width = max(map(len, names), default=0)
        for name, row in zip(names, self.listed, strict=True):
            lines.append(f"  {name:{width}}  {row['role']:15}  {self.why(row)}")
        lines += [f"  {self.more}"] if self.more else []
        if self.several:
            lines.append(f"{len(self.blankets)} answers:")
            lines += [f"  {', '.join(map(printable, blanket))}" for blanket in self.blankets]
        columns, rows = self.curve
        if rows:
            lines.append(CURVE)
            widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
            aligned = ("  ".join(f"{c:>{w}}" for c, w in zip(row, widths, strict=True)) for row in (columns, *rows))
            lines += [f"  {line}".rstrip() for line in aligned]
        return "\n".join([*lines, *filter(None, [self.rests_on])])

    @property
    def remarks(self) -> list[str]:
        """Why the CI test was chosen, if it was, and how the search ended, if not well."""
        chosen = [f"{self.ci_test} was chosen: {self.ci_test_reason}"] if self.ci_test_reason else []
        return [*chosen, *([printable(f"{self.status}: {self.reason}")] if self.status != "ok" else [])]

    @property
    def sentence(self) -> str:
        """What the method says of its answer; empty for most."""
        return printable(self.verdict.get("sentence", ""))

    @property
    def curve(self) -> tuple[list[str], list[list[str]]]:
        """The columns and rows of a table of scores by number of features; no rows for most methods."""
        return curve(self.verdict)

    @property
    def rests_on(self) -> str:
        """What the answer rests on, in a sentence, unless `remarks` say it; empty for most methods."""
        on = self.verdict.get("rests_on") if self.status == "ok" else None
        said = rests_on_in_words(on) if on else ""
        return f"{said[:1].upper()}{said[1:]}." if said else ""

    @property
    def one_is_enough(self) -> str:
        """Of which features one is enough; empty if there are none, or if the method says so itself."""
        said = one_is_enough(dict(zip((row["feature"] for row in self.blanket), self._stand_ins, strict=True)))
        return "" if said in self.sentence else said

    @property
    def _stand_ins(self) -> list[list[StandIn]]:
        return [[StandIn(**other) for other in row["stand_ins"]] for row in self.blanket]

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The rows of the blanket that are shown to a reader."""
        return self.blanket[:MOST_LISTED]

    @property
    def more(self) -> str:
        """How many rows are not shown, in words."""
        left = len(self.blanket) - MOST_LISTED
        return f"... and {left} more (--json lists them)" if left > 0 else ""

    @property
    def several(self) -> bool:
        """Whether the method gave several answers."""
        return len(self.blankets) > 1 and not self.n_folds

    def as_blanket(self, dataset: str) -> ExportedBlanket:
        """Return what is exported."""
        rows = [
            {**row, "stand_ins": in_words(others)} for row, others in zip(self.blanket, self._stand_ins, strict=True)
        ]
        return ExportedBlanket(dataset, self.target, self.task, self.method, self.method, rows, __version__, self.seed)

    def why(self, row: Mapping[str, Any]) -> str:
        """Return in words why a feature is in the blanket."""
        if self.n_folds:
            return f"in {round(row['frequency'] * self.n_folds)} of {self.n_folds} folds"
        if self.ci_test is None:
            return f"importance {row['importance']:.2g}"
        return f"p = {row['p_value']:.2g} given {_in_words(row['given'])}"


def _in_words(given: list[str] | None) -> str:
    return "all others that were left" if given is None else ", ".join(map(printable, given)) or "nothing"


def select(
    dataset: Mapping[str, Any],
    selector: Mapping[str, Any],
    ci_test: Mapping[str, Any],
    seed: int,
    n_jobs: int | None = 1,
    tell: Teller = SILENT,
) -> Selection:
    """Find the Markov blanket of one table's target, on all rows or combined over folds.

    The mappings have the keys of a data set, a selector and a CI test in config.yaml. Without keys of a CI test the
    method runs with its own. The selector's ``folds`` are 0 by default. `n_jobs` processes share one search where it
    can be shared. Errors are those of the workflow.
    """
    asked = {**selector, **({"ci_test": "asked"} if ci_test else {})}
    raw = {
        "datasets": {"table": dict(dataset)},
        "selectors": {"selector": asked},
        "splits": {"evaluation": 0},
        "folds": 0,
        **({"ci_tests": {"asked": dict(ci_test)}} if ci_test else {}),
    }
    checked_dataset("table", dataset)  # of one target
    config = read_config(raw)
    check_no_shards(config)
    if config.selectors["selector"].confirm is not None:
        raise ConfigError("select: confirm is a key of a run, and an argument of selector classes. Remove it here.")
    found = _searched_in_blocks(config, dataset, seed) or _searched_on_rows(config, seed, n_jobs, tell)
    chosen, told = found.config.selectors["selector"], found.config.chosen.get("table")
    status, reason = worst_status([(outcome.status, outcome.reason) for outcome in found.outcomes])
    blanket, blankets, best = _combined(found.outcomes, chosen.aggregate)
    by_p_values = _p_values(chosen, found.test, found.outcomes[0])
    return Selection(
        target=found.target,
        task=found.task,
        method=chosen.method_name,
        ci_test=told.id if told else found.test.card.id if found.test else None,
        ci_test_reason=told.reason if told else "",
        n_rows=found.features.n_rows,
        n_features=len(found.features),
        n_folds=chosen.folds,
        blanket=[{**row, "kind": found.features[row["feature"]].kind} for row in blanket],
        blankets=blankets,
        status=status,
        reason=reason,
        n_tests=sum(outcome.n_tests for outcome in found.outcomes),
        seconds=found.seconds,
        seed=seed,
        notes=list(filter(None, [*found.notes, by_p_values])),
        verdict=found.outcomes[best].verdict if best is not None else {},
    )


@dataclass(frozen=True)
class _Searched:
    """What a search found, and of what; `config` has the test that was chosen."""

    config: Config
    test: CITest | None
    features: Table
    target: str
    task: str
    outcomes: list[FoldOutcome]
    seconds: float
    notes: list[str]


def _searched_in_blocks(config: Config, asked: Mapping[str, Any], seed: int) -> _Searched | None:
    """Search on what is kept of a file that is beyond `max_memory`; return None if rows are needed."""
    spec, begin = config.datasets["table"], time.perf_counter()
    blocks = blocks_beyond_memory("table", asked, spec) if config.selectors["selector"].folds == 0 else None
    if blocks is None:
        return None
    # A look refuses what would unpack to too much, which matters only where the rows come into memory.
    is_auto = config.selectors["selector"].ci_test == AUTO
    config = with_chosen_tests(config, {"table": peek("table", spec, seed)} if is_auto else {})
    chosen, test = config.selectors["selector"], config.test("table", "selector")
    table = kept_of_blocks(blocks, chosen.method, test, max_memory("table", spec))
    if table is None:
        return None
    agreement, prior = table.statistics.agreement, config.prior("table", "selector")
    features = table.select(blocks.names[:-1])
    try:
        outcome = run_fold(
            chosen.method,
            test,
            features,
            table[agreement.target],
            fold_seed(seed, "0"),
            Limits(chosen.time_limit, chosen.max_tests),
            prior=prior,
            where="select",
            min_effect=chosen.min_effect,
        )
    except RowsNeeded:  # the search came to two labels, and here the rows are at hand
        return None
    note = (
        f"rows were read in blocks, and {'products' if table.statistics.cross_products else 'packed codes'} kept: the "
        "table is beyond max_memory. It was not looked through for findings"
    )
    seconds = time.perf_counter() - begin
    return _Searched(config, test, features, agreement.target, agreement.task, [outcome], seconds, [note])


def _searched_on_rows(config: Config, seed: int, n_jobs: int | None, tell: Teller) -> _Searched:
    """Search on all rows of a table, or on each fold's."""
    spec = config.datasets["table"]
    source = read_source("table", spec, seed)
    facts = facts_of(source)
    config = with_chosen_tests(config, {"table": facts})
    chosen, test = config.selectors["selector"], config.test("table", "selector")
    if reason := why_weights_are_refused(spec.get("weights_are"), chosen.method, test):
        raise UnsupportedError(f"select: {reason}. Choose another method or test.")
    if spec.get("within") is not None and (reason := why_no_strata(chosen.method, test)):
        raise UnsupportedError(f"select: {reason}. Remove within, or choose another method.")
    to_look_at = in_one_line(map(Finding.as_dict, findings(source)))
    begin = time.perf_counter()
    limits = Limits(chosen.time_limit, chosen.max_tests)
    folds = rows_of_folds(source.target, chosen.folds, seed, chosen.fold_rows, source.groups, where="table")
    outcomes = []
    test = for_missing_cells("select", chosen.method, test, spec["missing"], spec.get("imputations"))
    max_rows = config.max_rows("table", test or chosen.method)
    for fold, of_fold in folds:
        rows = sampled(of_fold, source.target.values, max_rows, fold_seed(seed, fold))
        features = source.features.take(rows)
        target = source.target.take(rows)
        found = run_fold(
            chosen.method,
            test,
            features if test and test.incomplete else impute(features, features),
            target,
            fold_seed(seed, fold),
            limits,
            prior=config.prior("table", "selector"),
            where="select",
            groups=None if source.groups is None else source.groups[rows],
            min_effect=chosen.min_effect,
            n_jobs=n_workers("select", n_jobs, MANY),
            gaps=source.gaps,
            tell=tell,
        )
        outcomes.append(found)
    told_of_table = [found_line(source.found), markers_told(source.markers), to_look_at]
    pair = "table", "selector"
    told_of_groups = doubted_p_values(config, {"table": facts}, [pair]).get("table", [])
    of_sample = sample_told(len(folds[0][1]), max_rows) if max_rows else told_of_sample(config, "table", [pair])
    notes, seconds = [*told_of_table, *told_of_groups, of_sample], time.perf_counter() - begin
    return _Searched(
        config,
        test,
        source.features,
        source.target.name,
        source.task.name,
        outcomes,
        seconds,
        list(filter(None, notes)),
    )


def _p_values(chosen: Selector, test: CITest | None, found: FoldOutcome) -> str:
    """Return in words that p-values no longer select; empty if they do, or an effect is asked for beside them."""
    alpha = chosen.method.options().get("alpha")
    if alpha is None or found.marginal is None or not decides_by_p_values_alone(chosen.method, test, chosen.min_effect):
        return ""
    return why_p_values_do_not_select(found.marginal, alpha)


def _combined(outcomes: Sequence[FoldOutcome], rule: Any) -> tuple[list[dict[str, Any]], list[list[str]], int | None]:
    """Return the blanket's rows, all blankets, and the fold whose set is the answer, if it is that of one fold."""
    combined = aggregate(sets := [outcome.members for outcome in outcomes], rule)
    fields = ("feature", "role", "group", "importance", "frequency")
    blanket = [
        {name: row[name] for name in fields}
        | {"p_value": combined.spoken[row["feature"]].p_value, "given": combined.spoken[row["feature"]].listed}
        | {"stand_ins": [other._asdict() for other in row["stand_ins"]]}
        for row in combined.features
        if row["chosen"]
    ]
    if len(outcomes) == 1 and outcomes[0].answers:
        return blanket, [list(answer.features) for answer in outcomes[0].answers], combined.best
    return blanket, [[member.feature for member in fold] for fold in sets], combined.best


def settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Return ``key=value`` pairs as a mapping; values are read as YAML reads them.

    Examples
    --------
    >>> settings(["alpha=0.01", "max_k=null", "symmetry=or", "decimal=,"])
    {'alpha': 0.01, 'max_k': None, 'symmetry': 'or', 'decimal': ','}
    """
    import yaml

    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"{pair!r} is not a setting: write key=value, such as alpha=0.01.")
        try:
            found[key] = value if _SIGN(value) else yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{shown(pair)}: the value is not YAML. Put it in quotes, as in {key}='\"text\"'."
            ) from error
    return found
