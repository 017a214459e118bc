"""Report sections on the whole run: results, settings of each selector, and all data sets together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

import pandas as pd
from markupsafe import Markup

from ...core.cards import SURVIVAL, Card
from ...data.splits import FINAL
from ..formatting import NONE, count, fixed, linked, mean_sd, metric_name, number, p_value, plain, shortened, some
from .html import Cell, Table, cells
from .run import Run

#: Largest number of named features of a union.
MOST_NAMED = 40
#: Names of features in a row of the table of data sets, and letters of a text there.
_FEW_NAMED, _SHORT = 3, 60


def asked(run: Run) -> str:
    """Return one sentence on the run."""
    splits = sorted({split for split in run.folds["split"] if split != FINAL})
    models = list(dict.fromkeys(run.tables["scores"]["model"]))
    parts = [f"{count(len(run.cards), 'data set')} and {count(len(run.selectors), 'selector')}"]
    if splits:
        parts.append(f"each selector evaluated on {count(len(splits), 'split')} with rows that it did not see")
    if models:
        parts.append(f"by {count(len(models), 'model')} ({', '.join(models)})")
    return ", ".join(parts) + "."


def summary(run: Run) -> Table:
    """Return a table of the main score and the blanket size of every selector on every data set."""
    headers = ["selector", *(_header(run, dataset) for dataset in run.cards)]
    rows = [[Cell(name), *(_result(run, dataset, name) for dataset in run.cards)] for name in run.shown]
    return Table(headers, rows)


def _header(run: Run, dataset: str) -> str:
    name, metric = run.cards[dataset].get("name", dataset), run.main_metric(dataset)
    return f"{name}: {run.main_model(dataset)} {metric}" if metric else name


def _result(run: Run, dataset: str, selector: str) -> Cell:
    if len(run.rows(run.skipped, dataset=dataset, selector=selector)):
        return Cell("skipped")
    size = count(len(run.blanket(dataset, selector)), "feature") if selector in run.ran(dataset) else ""
    size = "no feature" if selector == run.nothing else size
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    score = run.rows(run.scores(dataset), selector=selector, metric=metric, model=model).dropna(subset=["mean"])
    if len(score):
        row = score.iloc[0]
        return Cell(
            mean_sd(row["mean"], row["sd"]), size or "no final blanket", best=bool(row["best"]), value=row["mean"]
        )
    failed = len(run.rows(run.outcomes, dataset=dataset, selector=selector)) > 0
    return Cell(size or ("failed" if failed else NONE))


def found(run: Run) -> Table:
    """Return a table of the data sets: what is kept, the score with it, with all features and with none."""
    rows = []
    for dataset, card in run.cards.items():
        answer, scores = run.answer(dataset), run.scores(dataset)
        cell = Cell(str(card.get("name", dataset)))
        if answer is None or not answer.selector:
            rows.append([cell, Cell("no result"), *[Cell(NONE)] * 6])
            continue
        own = scores[(scores["metric"] == answer.metric) & (scores["model"] == answer.model)]
        means = own.set_index("selector")["mean"].to_dict()
        kept = Cell(f"{answer.n_features:,} of {card['n_features']:,}", value=answer.n_features)
        shown = [Cell(fixed(means.get(s)), value=means.get(s)) for s in (answer.selector, run.baseline, run.nothing)]
        shown[0] = replace(shown[0], detail=metric_name(answer.metric))
        names = run.blanket(dataset, answer.selector)["feature"].tolist()
        warning = shorten(answer.warning.removeprefix("look at the table first: "), _SHORT, placeholder=" …")
        named = some([shortened(name, _SHORT // 2) for name in names], _FEW_NAMED)
        said = Cell(answer.learned), Cell(named), Cell(warning)
        rows.append([cell, kept, *shown, *said])
    headers = ["data set", "features kept", "with them", "with all", "with none", "learned", "names", "warning"]
    return Table(headers, rows, text_columns=(5, 6, 7))


def without_features(run: Run) -> str:
    """Return what is predicted without features."""
    has_survival = any(card.get("task") == SURVIVAL for card in run.cards.values())
    curve = ", or for survival one Kaplan-Meier curve for all rows" if has_survival else ""
    return "the majority class or the mean" + curve


def unions(run: Run) -> Table:
    """Return a table of the features in the blanket of at least one target, by data set and selector."""
    rows = []
    for dataset, of_targets in run.targets.items():
        for selector in run.selectors:
            if run.is_reference(selector) or not any(selector in run.ran(part) for part in of_targets.values()):
                continue
            found = run.rows(run.tables["unions"], dataset=dataset, selector=selector)
            common = int((found["n_targets"] == len(of_targets)).sum())
            names = ", ".join(found["feature"][:MOST_NAMED]) + (", …" if len(found) > MOST_NAMED else "")
            sizes = [Cell(str(n), value=n) for n in (len(found), common)]
            rows.append((Cell(dataset), Cell(selector), Cell(", ".join(of_targets)), *sizes, Cell(names)))
    headers = ["data set", "selector", "targets", "features", "of all targets", "names"]
    return Table(headers, rows, n_text=3, text_columns=(5,))


def failures(run: Run) -> tuple[Table, Table]:
    """Return the stages without a clean result and the skipped pairs, with reasons."""
    ended = [
        cells(row.dataset, row.selector, row.split, row.stage, row.status, row.reason)
        for row in run.outcomes.itertuples()
    ]
    not_run = [cells(row.dataset, row.selector, row.reason) for row in run.skipped.itertuples()]
    return (
        Table(["data set", "selector", "split", "stage", "status", "reason"], ended, n_text=6),
        Table(["data set", "selector", "reason"], not_run, n_text=3),
    )


# --- the settings of each selector, the guarantee of its method and the known error rate of its test ------------------

_HIDDEN = ("method", "ci_test", "grain", "options")  # options are listed one by one with the other settings
#: False-positive rate of the marginal PPI test by n_repeats, as measured by studies/calibration/ppi_false_positives.py.
_WILCOXON = {5: "2 to 3 %", 10: "9 to 10 %", 30: "21 to 22 %", 100: "30 to 31 %"}
_HOW = "at alpha 0.05, n = 100 and 200, target independent of the feature, 1,000 columns each"


@dataclass(frozen=True)
class Method:
    """A selector as the report explains it."""

    selector: str
    name: str
    settings: list[tuple[str, str]]
    facts: list[tuple[str, str | Markup]]
    calibration: str = ""


def methods(run: Run) -> list[Method]:
    """Return every selector with its settings and its method's card."""
    return [_method(selector, spec, run.method_cards) for selector, spec in run.selectors.items()]


def _method(selector: str, spec: Mapping[str, Any], known: Mapping[str, Card]) -> Method:
    card = known.get(spec.get("method", selector))
    test = _test_options(spec.get("ci_test"))
    is_chosen = test.get("type") == "auto"
    test_card = None if is_chosen else known.get(test.get("type", ""))
    settings = [(key, plain(value)) for key, value in spec.items() if key not in _HIDDEN]
    facts: list[tuple[str, str | Markup]] = []
    if card:
        facts += [("Method", card.summary), ("Guarantee", card.guarantee)]
        facts += [("Ranks by", card.formula)] if card.formula else []
        facts += [("Importance", card.means_by_importance)] if card.means_by_importance else []
        facts += [("Cost", card.cost)] if card.cost else []
        facts += _reference("Reference", card)
    if is_chosen:
        facts.append(("CI test", "chosen for each data set, whose facts name it with the reason"))
    elif test:
        options = ", ".join(f"{key} {plain(value)}" for key, value in test.items() if key != "type")
        facts.append(("CI test", f"{test_card.name if test_card else test['type']}{': ' + options if options else ''}"))
    if test_card:
        facts += [
            ("p-values", f"{test_card.p_values}; {test_card.guarantee}"),
            *_reference("Test reference", test_card),
        ]
    name = card.name if card else plain(spec.get("method", selector))
    is_ppi = test.get("type") == "ppi"
    return Method(selector, name, settings, facts, calibration({**spec, **test}) if is_ppi else "")


def _reference(term: str, card: Card) -> list[tuple[str, str | Markup]]:
    return [(term, linked(card.reference))] if card.reference not in ("", "none") else []


def _test_options(ci_test: Any) -> dict[str, Any]:
    """Return a CI test's spec as one flat mapping with its type."""
    if not ci_test:
        return {}
    if isinstance(ci_test, str):
        return {"type": ci_test}
    flat = {key: value for key, value in ci_test.items() if key != "options"}
    return {"type": flat.get("type", flat.get("id", ""))} | flat | dict(ci_test.get("options") or {})


def calibration(options: Mapping[str, Any]) -> str:
    """Return the significance level of a PPI test and its measured false-positive rate, in words."""
    significance = options.get("significance", "wilcoxon")
    if significance == "corrected-t":
        return f"Significance: corrected-t. Measured false-positive rate {_HOW}: 1 to 5 % for 5 to 100 repeats."
    n_repeats = options.get("n_repeats")
    rates = ", ".join(f"{rate} with B = {b}" for b, rate in _WILCOXON.items())
    own = f" This selector used B = {n_repeats}." if n_repeats is not None else ""
    return (
        f"Significance: {significance}. Measured false-positive rate {_HOW}: {rates}.{own} All repeats split the same "
        "sample, so they are dependent, and more repeats make the test more liberal; "
        "the corrected-t variant stays at 1 to 5 % for 5 to 100 repeats."
    )


# --- all data sets together: ranks, tests for differences, and wins ---------------------------------------------------

#: Significance level of the sentence, and of Nemenyi's critical difference.
_ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """The selectors compared by one metric of one model."""

    metric: str
    model: str
    sentence: str


def comparisons(run: Run) -> list[Comparison]:
    """Return the comparisons by the most frequent main metric, starting with the most frequent main model."""
    metric, lead = run.lead_metric(), run.lead_model()
    tested = run.rows(run.tables["friedman"], metric=metric) if metric else run.tables["friedman"][:0]
    found = [Comparison(row.metric, row.model, sentence(row)) for row in tested.itertuples()]
    return sorted(found, key=lambda comparison: comparison.model != lead)


def sentence(test: pd.Series) -> str:
    """Return the results of Friedman's and Nemenyi's tests in words; `test` is a row of the table ``friedman``."""
    if test.statistic != test.statistic:
        return f"No test: {test.note}."
    differ = test.p_value < _ALPHA
    text = f"Over {count(test.n_datasets, 'data set')} the {test.n_selectors} selectors "
    text += "differ" if differ else "differ no more than by chance"
    text += f" (Friedman's χ² = {number(test.statistic, 2)}, {p_value(test.p_value)}). "
    distance = fixed(test.critical_difference, 2)
    text += (
        f"Two selectors whose mean ranks are closer than {distance} do not differ"
        if differ
        else f"Mean ranks would have to be {distance} apart"
    )
    return (
        text
        + f" by Nemenyi's test at the {_ALPHA:.0%} level."
        + (f" {test.note[:1].upper()}{test.note[1:]}." if test.note else "")
    )


def tests(run: Run) -> Table:
    """Return a table of Friedman's test for every metric and model."""
    rows = [
        cells(
            row.metric,
            row.model,
            Cell(str(row.n_datasets), value=row.n_datasets),
            Cell(str(row.n_selectors), value=row.n_selectors),
            Cell(number(row.statistic, 2), value=row.statistic),
            Cell(number(row.p_value), value=row.p_value),
            Cell(number(row.f_p_value), value=row.f_p_value),
            Cell(fixed(row.critical_difference, 2), value=row.critical_difference),
            row.note,
        )
        for row in run.tables["friedman"].itertuples()
    ]
    headers = ["metric", "model", "data sets", "selectors", "χ²", "p", "p of F", "critical difference", "note"]
    return Table(headers, rows, n_text=2, text_columns=(8,))


def ranks(run: Run) -> list[Table]:
    """Return one table of mean ranks (selectors by models) per metric, the main metric first."""
    by_metric = run.tables["ranks"].groupby("metric", sort=False)
    parts = sorted(by_metric, key=lambda part: part[0] != run.lead_metric())
    return [_rank_table(run, metric, part) for metric, part in parts]


def _rank_table(run: Run, metric: str, known: pd.DataFrame) -> Table:
    models = list(dict.fromkeys(known["model"]))
    comparable = known[known["n_datasets"] == known.groupby("model")["n_datasets"].transform("max")]
    best, worst = (comparable.groupby("model")["mean_rank"].agg(of) for of in ("min", "max"))
    found = {(row.selector, row.model): row for row in known.itertuples()}
    rows = []
    for selector in run.present(known):
        row = [Cell(selector)]
        for model in models:
            rank = found.get((selector, model))
            if rank is None:
                row.append(Cell(NONE))
            else:
                is_best = rank.Index in comparable.index and rank.mean_rank == best[model] < worst[model]
                n = f"n = {rank.n_datasets}"
                row.append(Cell(fixed(rank.mean_rank, 2), n, best=is_best, value=rank.mean_rank))
        rows.append(row)
    return Table(["selector", *models], rows, caption=f"{metric}: mean rank over n data sets")
