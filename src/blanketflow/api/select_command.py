"""One selection on one table, without a workflow, for ``blanketflow select``."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .. import __version__
from ..ci.choice import AUTO, described
from ..config.reading import checked_dataset, read_config
from ..config.typed import Config
from ..core.errors import ConfigError, RowsNeeded, shown
from ..core.limits import Limits, in_seconds
from ..core.messages import SILENT, Teller, say_once
from ..core.printable import printable
from ..core.registry import look_up
from ..core.results import StandIn, in_words, one_is_enough
from ..core.rows import sample_told
from ..core.table import COUNTS, Table
from ..core.task import infer_task, target_column
from ..counts.counting import PackedRows, ParquetBlocks, spread
from ..counts.summed_table import SummedTable
from ..data.card import with_findings
from ..data.column_roles import RawTable, max_memory
from ..data.dialect import found_line
from ..data.findings import Finding, findings, in_lines
from ..data.gene_sets import gene_sets_asked
from ..data.missing_markers import markers_told
from ..data.sources import read_source
from ..data.suspected_cells import suspects_of
from ..reporting.export import ExportedBlanket
from ..reporting.formatting import fixed, metric_name, number, signed, some
from ..search.run_fold import fold_seed
from ..search.sample import Sample
from ..search.search import Outcome, Search
from ..selectors.compatibility import why_p_values_mislead
from ..selectors.judged.verdict import MOST_NAMED, rests_on_in_words
from ..targets import get_target_kind
from ..workflow.peek import peek
from ..workflow.plan import with_gene_sets
from ..workflow.sharded import check_no_shards
from ..workflow.suitability import MAX_ROWS_CHANGES_NOTHING
from .rows_in_blocks import (
    PACKED_ROWS,
    blocks_of_file,
    kept_of_blocks,
    rechosen,
    sample_of_blocks,
    with_chosen_test,
)

#: One sign that YAML would read as no text, or not at all, such as a comma; its ~ is null.
_SIGN = re.compile(r"[^\w\s~]").fullmatch
#: Features of a blanket that a person is shown.
MOST_LISTED = 40


@dataclass(frozen=True, repr=False)
class Selection:
    """The blanket that was found, and how.

    `n_folds` is the number of folds whose blankets were combined; 0 for none. `blanket` has one row per feature, most
    important first. With folds, frequency is the share of folds with the feature, importance the mean over these, and
    the rest comes from the winning fold. `blankets` has the blanket of each fold, or all answers of a method that gives
    several. `ci_test_reason` is empty unless the test was chosen automatically. `seconds` is wall time. `confirmed` has
    the tests on rows that the search did not use. `search` is for `blanketflow.read_search`.
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
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    search: dict[str, Any] = field(default_factory=dict)

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

    def page(self, table: str) -> str:
        """Return the answer as a page of HTML: sentence, picture, and warnings."""
        from ..reporting.picture import chosen, next_steps, picture_of
        from ..reporting.report.dataset import render_selected

        rows = [
            chosen(row, self.n_folds, in_words(others, 1))
            for row, others in zip(self.blanket, self._stand_ins, strict=True)
        ]
        card = getattr(look_up("blanketflow.selectors", self.method, "method"), "card", None)
        means = card.means_by_importance if card is not None else ""
        n = f"{len(rows)} of {self.n_features} features"
        sentence = self.sentence or (
            f"Keep {n}: {some([row.feature for row in rows], MOST_NAMED)}."
            if rows
            else "No feature was found to depend on the target."
        )
        more = [*filter(None, [self.one_is_enough, self.rests_on])]
        title = f"{table}: {printable(self.target)}"
        steps = next_steps({"n_rows": self.n_rows, "task": self.task}, self.verdict.get("ranked", ()))
        picture = picture_of(rows, self.verdict, means, next_steps=steps)
        return render_selected(title, sentence, picture, [*self.remarks, *self.notes], more)

    def as_blanket(self, dataset: str) -> ExportedBlanket:
        """Return what is exported."""
        rows = [
            {**row, "stand_ins": in_words(others)} for row, others in zip(self.blanket, self._stand_ins, strict=True)
        ]
        return ExportedBlanket(dataset, self.target, self.task, self.method, self.method, rows, __version__, self.seed)

    def why(self, row: Mapping[str, Any]) -> str:
        """Return in words why a feature is in the blanket."""
        if self.n_folds:
            return f"in {round(row['frequency'] * self.n_folds)} of {self.n_folds} folds{self._confirmed(row)}"
        if self.ci_test is None:
            return f"importance {row['importance']:.2g}{self._confirmed(row)}"
        return f"p = {row['p_value']:.2g} given {_in_words(row['given'])}{self._confirmed(row)}"

    def _confirmed(self, row: Mapping[str, Any]) -> str:
        """Return in words what rows that the search never saw say of a feature; empty if that was not asked for."""
        own = next((one for one in self.confirmed if one["feature"] == row["feature"]), None)
        if own is None:
            return ""
        return f"; {'' if own['confirmed'] else 'not '}confirmed (p = {own['p_value']:.2g}{self._ratio(own)})"

    def _ratio(self, own: Mapping[str, Any]) -> str:
        if not own.get("ratio", 0.0) > 0:
            return ""
        low, high = own["ratio_low"], own["ratio_high"]
        held = f", {number(low)} to {number(high)}" if low == low else ""
        return f", {get_target_kind(self.task).card.effect} {number(own['ratio'])}{held}"


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

    The mappings have the keys of a data set, a selector and a CI test in config.yaml. Without CI test keys it uses
    the default test. The selector's ``folds`` are 0 by default. `n_jobs` processes share a search that can be divided.
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
    begin, of_groups = time.perf_counter(), None
    if gene_sets_asked(config.datasets["table"].get("feature_groups")):
        config, facts = with_gene_sets(config, {"table": peek("table", config.datasets["table"], seed)})
        of_groups = facts["table"].of_groups
    try:
        outcome, why_rows = _searched_in_blocks(config, dataset, seed), ""
    except RowsNeeded as error:
        outcome, why_rows = None, str(error).rstrip(".")
    outcome = outcome or _searched_on_rows(config, seed, n_jobs, tell, of_groups, why_rows)
    search, features = outcome.search, outcome.sample.features
    say_once("select", *outcome.warned)
    return Selection(
        target=outcome.sample.target.name,
        task=outcome.sample.task,
        method=config.selectors["selector"].method_name,
        ci_test=search.test_id,
        ci_test_reason=search.reason,
        n_rows=outcome.sample.taken_of or features.n_rows,
        n_features=len(features),
        n_folds=search.folds,
        blanket=[{**row, "kind": features[row["feature"]].kind} for row in _rows(outcome)],
        blankets=[blanket for blanket, _ in outcome.blankets],
        status=outcome.status,
        reason=outcome.reason,
        n_tests=outcome.n_tests,
        seconds=time.perf_counter() - begin,
        seed=seed,
        notes=outcome.notes,
        verdict=outcome.verdict,
        confirmed=outcome.confirmed_rows,
        search=search.as_dict(),
    )


def _search(config: Config, seed: int) -> Search:
    """Return the search of a configuration of one data set and one selector."""
    spec, chosen = config.datasets["table"], config.selectors["selector"]
    test = AUTO if chosen.ci_test == AUTO else config.test("table", "selector")
    return Search(
        chosen.method,
        test,
        seed,
        chosen.folds,
        chosen.fold_rows,
        chosen.aggregate,
        Limits(chosen.time_limit, chosen.max_tests),
        config.prior("table", "selector"),
        missing=spec["missing"],
        imputations=spec.get("imputations"),
        min_effect=chosen.min_effect,
        confirm=chosen.confirm,
        confirm_splits=chosen.confirm_splits,
        where="select",
    )


def _searched_in_blocks(config: Config, asked: Mapping[str, Any], seed: int) -> Outcome | None:
    """Search on what is kept of a large file read in blocks; None if it is small. May raise `RowsNeeded`."""
    spec, search = config.datasets["table"], _search(config, seed)
    if search.folds or search.confirm is not None:
        raise RowsNeeded("folds and confirm read rows")
    if (found := blocks_of_file("table", asked, spec)) is None:
        return None
    blocks, beyond = found
    if spec.get("max_rows"):
        return _searched_on_sample(config, search, blocks)
    if search.test == AUTO:
        search = with_chosen_test(search, blocks)
    table = kept_of_blocks(blocks, search.method, search.test, max_memory("table", spec), beyond)
    if search.choice is not None:  # levels that the file states may not occur
        search = rechosen(search, table)
    agreement = table.statistics.agreement
    kept = "products" if table.statistics.cross_products else "packed codes"
    why, found_in_some = "the table is beyond max_memory. It was not looked through for findings", []
    if not beyond:
        n_examined, found_in_some = min(SOME_ROWS, blocks.n_rows), _found_in_some(table, blocks, search)
        why = f"the table has {blocks.n_rows:,} rows. {n_examined:,} of them were looked through for findings"
    notes = (f"rows were read in blocks, and {kept} kept: {why}", *found_in_some)
    features = table.select(blocks.names[:-1])
    return search.run(Sample(features, table[agreement.target], agreement.task, notes=notes))


def _searched_on_sample(config: Config, search: Search, blocks: ParquetBlocks) -> Outcome:
    """Search on a sample, of which alone the rows are read; raises `RowsNeeded` if all are needed."""
    spec, decides = config.datasets["table"], search.method if search.test is None else search.test
    if decides == AUTO or not (most := config.max_rows("table", decides)):
        raise RowsNeeded("max_rows is set, but no sample is known to do. Remove it, or name a test that takes one")
    raw = sample_of_blocks("table", spec, blocks, most, fold_seed(search.seed, "0"))
    notes = [*in_lines(map(Finding.as_dict, findings(raw)), keys="options"), sample_told(blocks.n_rows, most)]
    sample = Sample(raw.features, raw.target, raw.task.name, notes=tuple(notes), taken_of=blocks.n_rows)
    return replace(search, max_rows=most).run(sample)


#: Rows of packed codes that are looked through for findings.
SOME_ROWS = 2**15


def _found_in_some(table: SummedTable, blocks: ParquetBlocks, search: Search) -> list[str]:
    """Return what is noted of some rows of the table; which columns are constant is known of all rows."""
    if isinstance(table.statistics, PackedRows):
        *columns, target = table.statistics.some_rows(SOME_ROWS)
    else:
        *columns, target = blocks.take(spread(blocks.n_rows, SOME_ROWS))
        target = target_column(target, table.statistics.agreement.task)
    varies = table.varying()[:-1]
    features = Table([column for column, is_kept in zip(columns, varies, strict=True) if is_kept])
    raw = with_findings(RawTable(features, target, infer_task(target, table.statistics.agreement.task)))
    constant = tuple(column.name for column, is_kept in zip(columns, varies, strict=True) if not is_kept)
    raw = replace(raw, constant=constant, suspected=suspects_of([*columns, target]))
    told = in_lines(map(Finding.as_dict, findings(raw)), keys="options")
    known = described(Table(columns), target) if search.choice is None else None
    return [*told, *filter(None, [why_p_values_mislead(search.method, search.test, known, table.n_rows)])]


def _searched_on_rows(
    config: Config, seed: int, n_jobs: int | None, tell: Teller, of_groups: str | None = None, why_rows: str = ""
) -> Outcome:
    """Search on all rows of a table, or on each fold's; `why_rows` says why a large table was not read in blocks."""
    spec, search = config.datasets["table"], _search(config, seed)
    source = read_source("table", spec, seed)
    notes = [found_line(source.found), markers_told(source.markers), of_groups]
    notes += in_lines(map(Finding.as_dict, findings(source)), keys="options")
    are_counted = spec.get("weights_are") == COUNTS
    of_rows = source.groups, are_counted, source.gaps
    sample = Sample(source.features, source.target, source.task.name, *of_rows)
    search = search.for_sample(sample)
    if spec.get("max_rows"):
        search = replace(search, max_rows=config.max_rows("table", search.test or search.method))
        notes.append("" if search.max_rows else MAX_ROWS_CHANGES_NOTHING)
    if why_rows and (sample.features.n_rows > PACKED_ROWS or spec.get("max_memory")):
        is_sampled = (search.test or search.method).card.takes_max_rows and not spec.get("max_rows")
        faster = ". A sample is faster: --data-set max_rows=100000" if is_sampled else ""
        notes.append(f"all {sample.features.n_rows:,} rows were read, since {why_rows}{faster}")
    return search.run(replace(sample, notes=tuple(filter(None, notes))), tell=tell, n_jobs=n_jobs)


def _rows(outcome: Outcome) -> list[dict[str, Any]]:
    """Return a row for each selected feature, with the test that it was decided by."""
    spoken = {step.feature: step for step in outcome.combined.spoken}
    return [
        {name: row[name] for name in ("feature", "role", "group", "importance", "frequency")}
        | {"p_value": spoken[row["feature"]].p_value, "given": spoken[row["feature"]].listed}
        | {"stand_ins": [other._asdict() for other in row["stand_ins"]]}
        for row in outcome.chosen
    ]


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


#: What is said above a curve.
CURVE = "Scores by number of features, each of the best set of its size, by cross-validation:"
#: Lines of a curve.
MOST_POINTS = 8


def points(alternatives: Sequence[Mapping[str, Any]], metric: str) -> list[Mapping[str, Any]]:
    """Return at most eight sizes: the chosen one, none, all and the best, then halves and doubles of the chosen one.

    `alternatives` are those of a verdict, smallest first; `metric` is the key of their score.

    Examples
    --------
    >>> sizes = [{"n_features": n, "r2": 1 - 1 / (n + 1), "chosen": n == 8} for n in (0, 1, 2, 3, 4, 5, 8, 16, 20, 90)]
    >>> [point["n_features"] for point in points(sizes, "r2")]
    [0, 1, 2, 4, 8, 16, 20, 90]
    """
    sizes = [row["n_features"] for row in alternatives]
    chosen = next(row["n_features"] for row in alternatives if row["chosen"])
    best = max(alternatives, key=lambda row: (round(row[metric], 9), -row["n_features"]))["n_features"]
    wanted = [chosen, *sizes[:1], *sizes[-1:], best]
    for factor in (2, 4, 8, 16):
        wanted += [min(sizes, key=lambda size: abs(size - to)) for to in (chosen / factor, chosen * factor)]
    shown = list(dict.fromkeys([*wanted, *sizes]))[:MOST_POINTS]
    return [row for row in alternatives if row["n_features"] in shown]


def curve(verdict: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: features, score, difference to all features, and which were kept.

    There are no rows if the verdict has no alternatives.
    """
    alternatives = verdict.get("alternatives") or []
    if not alternatives:
        return [], []
    metric = verdict["scores"][0]["metric"]
    last = alternatives[-1]["n_features"]
    rows = [
        [
            f"{row['n_features']:,}",
            fixed(row[metric]),
            signed(row["difference"]),
            "kept" if row["chosen"] else "all" if row["n_features"] == last and row["ranking"] == "all" else "",
        ]
        for row in points(alternatives, metric)
    ]
    return ["features", metric_name(metric.replace("_", "-")), "to all", ""], rows
