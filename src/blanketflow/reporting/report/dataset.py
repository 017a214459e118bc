"""Report section on one data set: facts, blankets, scores, stability, cost, and held-out groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

import pandas as pd

from ...data.findings.finding import IN_WORDS, SERIOUS
from ...data.splits import FINAL
from ..formatting import NONE, count, distribution, fixed, mean_sd, number, plain, seconds, signed, some
from ..formatting import ROLES as ROLES_AND_COLOURS
from ..picture import Picture, Point, Row, chosen, next_steps, picture_of
from ..tables.answers import NOT_SHOWN, ONLY_ALL, YES
from ..tables.blankets import confirmed_in_words
from . import html
from .html import Cell, Table, cells
from .run import Run

# --- headline of a data set: the answer with names, roles and scores, warnings, and findings --------------------------

#: Displayed names of roles; a member is a feature without a reported role.
ROLES = {role: label for role, (label, _) in ROLES_AND_COLOURS.items() if role != "member"}
#: Largest number of features named with their roles.
MOST_NAMED = 40
#: Warnings on the first screen, and letters of each.
MOST_LINES, _LINE = 3, 110
#: Kinds of findings shown in addition to serious ones.
_SHOWN = (*SERIOUS, "missing-marker", "few-rows", "imbalance", "weights")


@dataclass(frozen=True)
class Headline:
    """The headline of a data set's section.

    `features` are names with roles (may be empty), and `n_more` counts those not named. `roles_by` lists the searches
    that gave the roles, `confirmed` the confirmations on held-out rows, `learned` whether models beat no features, and
    `warnings` the searches that failed and why. `serious` and `other` are findings about the table.
    """

    selector: str
    answer: str
    scores: str = ""
    evidence: str = ""
    confirmed: str = ""
    learned: bool = False
    doubtful: bool = False
    features: list[tuple[str, str]] = field(default_factory=list)
    n_more: int = 0
    roles_by: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    serious: list[Mapping[str, Any]] = field(default_factory=list)
    other: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The first sentence of the answer, on the features to keep. A name may contain a full stop."""
        names = [name for name, _ in self.features if name in self.answer]
        named = max((self.answer.find(name) + len(name) for name in names), default=0)
        end = self.answer.find(". ", named)
        return self.answer if end < 0 else self.answer[: end + 1]

    @property
    def rest(self) -> str:
        """The answer after its first sentence."""
        return self.answer[len(self.first) :].strip()

    @property
    def lines(self) -> list[str]:
        """At most three warnings of one line each: doubtful searches, then findings, the serious first."""
        said = [f"{IN_WORDS.get(f['kind'], f['kind'])}: {f['message']}" for f in self.serious]
        said += ["The scores are not shown to be better than without any feature"] if self.doubtful else []
        said += [f"search to distrust: {line}" for line in self.warnings]
        return [shorten(line, _LINE, placeholder=" …") for line in (said + self.told)[:MOST_LINES]]

    @property
    def leaks(self) -> bool:
        """Whether leakage is suspected."""
        return any(finding["kind"] == "leakage" for finding in self.serious)


def render_selected(title: str, sentence: str, picture: Picture, lines: Sequence[str], more: Sequence[str]) -> str:
    """Return the page of one selection: sentence, picture, warnings and other lines. It loads nothing."""
    said = Headline("", sentence, features=[(row.feature, "") for row in picture.rows], told=list(lines))
    own = html.own()
    first = {"headline": said, "picture": picture}
    made = {"title": title, "policy": html.policy((own,)), "scripts": (own,), "s": first}
    return html.environment().get_template("selected.html").render(**made, more=[*filter(None, [said.rest]), *more])


def headline(run: Run, dataset: str, told: Sequence[str] = ()) -> Headline:
    """Return the headline of a data set's section, with further warnings."""
    answer = run.answer(dataset)
    findings = [finding for finding in run.cards[dataset].get("findings", []) if finding["kind"] in _SHOWN]
    said = {
        "warnings": _warnings(run, dataset),
        "serious": [finding for finding in findings if finding["kind"] in SERIOUS],
        "other": [finding for finding in findings if finding["kind"] not in SERIOUS],
        "told": list(told),
    }
    if answer is None or not answer.selector:
        text = answer.answer if answer is not None else "No selector has a result."
        return Headline("", f"{text} The reasons are listed below.", **said)
    names = list(run.blanket(dataset, answer.selector)["feature"])
    roles = _roles(run, dataset)
    listed = _in_groups(run, dataset, answer.selector, names)
    shown = [(text, ROLES[roles[name][0]] if name in roles else "") for name, text in listed[:MOST_NAMED]]
    return Headline(
        answer.selector,
        answer.answer,
        answer.scores,
        answer.evidence,
        confirmed_in_words(run.confirmed(dataset, answer.selector)),
        answer.learned == YES and not any(finding["kind"] == "leakage" for finding in findings),
        answer.learned in (NOT_SHOWN, ONLY_ALL),
        shown,
        max(0, len(listed) - MOST_NAMED),
        list(dict.fromkeys(roles[name][1] for name, _ in listed[:MOST_NAMED] if name in roles)),
        **said,
    )


def _in_groups(run: Run, dataset: str, selector: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return features with their displayed text: a group is shown with its first feature."""
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(run.feature_group(dataset, selector, name) or name, []).append(name)
    return [
        (members[0], members[0] if members == [name] else f"{name} ({', '.join(members)})")
        for name, members in together.items()
    ]


def _roles(run: Run, dataset: str) -> dict[str, tuple[str, str]]:
    """Return the role of each feature and the search that gave it: the first one that could make its tests."""
    doubtful = set(run.rows(run.outcomes, dataset=dataset, split=FINAL, stage="select")["selector"])
    found: dict[str, tuple[str, str]] = {}
    for selector in run.ran(dataset):
        if selector in doubtful or run.is_reference(selector):
            continue
        for row in run.blanket(dataset, selector).itertuples():
            is_better = row.feature not in found or found[row.feature][0] == "included"
            if row.role in ROLES and is_better:
                found[row.feature] = (row.role, selector)
    return found


def _warnings(run: Run, dataset: str) -> list[str]:
    """Return the searches without a clean result, with the number of splits and the first reason."""
    ended = run.rows(run.outcomes, dataset=dataset, stage="select")
    found = []
    for selector in run.present(ended):
        own = run.rows(ended, selector=selector)
        found.append(f"{selector}: {own['status'].iloc[0]} on {count(len(own), 'split')}, {own['reason'].iloc[0]}")
    return found


def picture(run: Run, dataset: str) -> Picture | str:
    """Return the picture of the answer; empty without one. Its scores are those of the method, or of all selectors."""
    answer = run.answer(dataset)
    if answer is None or not answer.selector:
        return ""
    selector, blanket = answer.selector, run.blanket(dataset, answer.selector)
    roles, n_folds = _roles(run, dataset), int(blanket["n_folds"].max()) if len(blanket) else 0
    kept = [
        chosen(row, n_folds, row["stand_ins"], role=roles.get(row["feature"], (row["role"],))[0])
        for row in blanket.to_dict("records")
    ]
    told, scored, others = run.told.get((dataset, selector), {}), run.scores(dataset), []
    if n_folds > 1 and not told.get("ranked"):
        members = run.rows(run.members, dataset=dataset, selector=selector, split=FINAL)
        times = members.loc[~members["feature"].isin(set(blanket["feature"])), "feature"].value_counts()
        next_ones = sorted(times.items(), key=lambda of: (-of[1], of[0]))
        others = [Row(name, False, int(n), n_folds) for name, n in next_ones]
    card = run.method_cards.get(run.selectors[selector].get("method", selector))
    meaning = card.means_by_importance if card is not None else ""
    own = scored[(scored["metric"] == answer.metric) & (scored["model"] == answer.model)].set_index("selector")
    ends = {"everything": own["mean"].get(run.baseline, math.nan), "nothing": own["mean"].get(run.nothing, math.nan)}
    points = [
        Point(row.n_features, row.mean, row.low, row.high, row.Index == selector, row.Index) for row in own.itertuples()
    ]
    drawn = {"points": points, "metric": answer.metric, "is_curve": False, **ends}
    return picture_of(
        kept, told, meaning, others=others, next_steps=next_steps(run.cards[dataset], told.get("ranked", ())), **drawn
    )


#: Largest number of names in a fact.
MAX_NAMES = 30
#: Text columns of a blanket.
STAND_INS = "stand-ins"
RATIO = "ratio"
TEXTS = ("role", "feature group", "confirmed", STAND_INS)
_PRIOR = {"include": "Included", "exclude": "Excluded"}


def facts(
    card: Mapping[str, Any],
    ci_test: tuple[str, str] | None = None,
    unselective: Sequence[str] = (),
    sampled: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """Return the facts on the card as (term, text), the chosen CI test with the reason, and warnings.

    The warnings concern tests whose p-values no longer select, and searches on a sample of the rows.
    """
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in card["kinds"].items())
    pairs = [
        ("Source", plain(card.get("source"))),
        ("Rows", f"{card['n_rows']:,}"),
        ("Features", f"{card['n_features']:,} ({kinds})"),
        ("Target", f"{card['target']['name']}: {distribution(card['target'], card['n_rows'])}"),
        ("Task", f"{card['task']}: {card['task_reason']}"),
        ("Missing cells", _missing(card["missing"])),
    ]
    if ci_test is not None:
        pairs.append(("CI test", f"{ci_test[0]} was chosen: {ci_test[1]}"))
    pairs += [("p-values", said) for said in unselective]
    pairs += [("Sample", said) for said in sampled]
    prior = card.get("prior") or {}
    pairs += [(term, some(prior[key], MAX_NAMES)) for key, term in _PRIOR.items() if key in prior]
    pairs += [(f"Tier {at}", some(tier, MAX_NAMES)) for at, tier in enumerate(prior.get("tiers", ()), 1)]
    groups = prior.get("feature_groups", {})
    pairs += [(f"Feature group {name}", some(members, MAX_NAMES)) for name, members in groups.items()]
    if costs := prior.get("costs"):
        pairs.append(("Costs", some([f"{name} {cost:g}" for name, cost in costs.items()], MAX_NAMES)))
    if card.get("n_groups") is not None:
        pairs.append(("Groups", f"{card['n_groups']:,}"))
    if card.get("constant"):
        pairs.append(("Constant", some(card["constant"], MAX_NAMES)))
    if card.get("truth") is not None:
        pairs.append(("True blanket", some(card["truth"]["blanket"], MAX_NAMES)))
    return pairs + [("Note", note) for note in card.get("notes") or []]


def _missing(missing: Mapping[str, Any]) -> str:
    if not missing["cells"]:
        return "none"
    copies = f", {missing['imputations']} imputations" if "imputations" in missing else ""
    return f"{missing['cells']:,} in {count(missing['columns'], 'column')} (policy: {missing['policy']}{copies})"


#: Largest number of features in the table; the others are named below it.
MAX_FEATURES = 30


@dataclass(frozen=True)
class BlanketSection:
    """The final blanket of one selector.

    `verdict` comes from its method, and `importance` explains the measure.
    """

    selector: str
    size: int
    first: str
    table: Table | None = None
    more: list[str] = field(default_factory=list)
    verdict: str = ""
    importance: str = ""


def blankets(run: Run, dataset: str) -> list[BlanketSection]:
    """Return the final blanket of each selector, even if empty, without the references of all and no features."""
    return [_blanket(run, dataset, name) for name in run.ran(dataset) if name not in (run.baseline, run.nothing)]


def _blanket(run: Run, dataset: str, selector: str) -> BlanketSection:
    found = run.blanket(dataset, selector)
    names = list(found["feature"])
    first = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    verdict = run.verdicts.get((dataset, selector), "")
    if not names:
        return BlanketSection(selector, 0, "no feature was kept", verdict=verdict)
    n_folds = int(found["n_folds"].max())
    top = found["importance"].max()
    columns = {"feature": [Cell(row.feature) for row in found.itertuples()]}
    columns["importance"] = [
        Cell(number(value), share=_bar(value, top), value=value) for value in found["importance"].tolist()
    ]
    groups = [run.feature_group(dataset, selector, name) for name in names]
    if any(groups):
        columns["feature group"] = list(map(Cell, groups))
    if n_folds > 1:
        shares = found["frequency"].tolist()
        columns["folds"] = [
            Cell(f"{round(share * n_folds)} of {n_folds}", share=share, value=share) for share in shares
        ]
    if set(found["role"]) & set(ROLES):
        columns["role"] = [Cell(ROLES.get(role, role)) for role in found["role"]]
    if any(found["stand_ins"]):
        columns[STAND_INS] = list(map(Cell, found["stand_ins"]))
    tested = run.confirmed(dataset, selector).set_index("feature")
    if len(tested):
        columns["effect on rows left out"] = [_effect(tested.loc[name]) for name in names]
        if RATIO in tested.columns and tested[RATIO].notna().any():
            columns[f"{run.method_cards[run.cards[dataset]['task']].effect} on rows left out"] = [
                _ratio(tested.loc[name]) for name in names
            ]
        n_splits = run.selectors[selector].get("confirm_splits", 1)
        if n_splits > 1:
            columns["splits"] = [Cell(f"{tested.loc[name, 'splits']} of {n_splits}") for name in names]
        columns["confirmed"] = [Cell("yes" if tested.loc[name, "confirmed"] else "no") for name in names]
    rows = list(zip(*columns.values(), strict=True))[:MAX_FEATURES]
    texts = tuple(at for at, name in enumerate(columns) if name in TEXTS)
    table = Table(list(columns), rows, text_columns=texts)
    return BlanketSection(
        selector,
        len(names),
        first,
        table,
        names[MAX_FEATURES:],
        verdict,
        _importance(run, selector, n_folds),
    )


def _importance(run: Run, selector: str, n_folds: int) -> str:
    """Return a sentence on the importance measure of a selector's method."""
    card = run.method_cards.get(run.selectors[selector].get("method", selector))
    if card is None or not card.means_by_importance:
        return ""
    over = "; the mean over the folds that chose it" if n_folds > 1 else ""
    return f"Importance: {card.means_by_importance}{over}."


def _effect(tested: pd.Series) -> Cell:
    """Return the effect of a member on the left-out rows, with interval and p-value."""
    known = tested["low"] == tested["low"]  # several splits may have no effect in common
    held = f"{signed(tested['low'])} to {signed(tested['high'])}" if known else "splits disagree"
    detail = f"({held}), p = {tested['p_value']:.2g}"
    return Cell(signed(tested["effect"]), detail, value=tested["effect"])


def _ratio(tested: pd.Series) -> Cell:
    """Return the ratio of a member on the left-out rows, with its interval."""
    known = tested["ratio_low"] == tested["ratio_low"]
    held = f"({number(tested['ratio_low'])} to {number(tested['ratio_high'])})" if known else ""
    return Cell(number(tested[RATIO]), held, value=tested[RATIO])


def _bar(value: float | None, top: float) -> float | None:
    drawn = value is not None and value == value and top == top and 0 < top < float("inf")
    return max(0.0, value / top) if drawn else None


def truth_table(run: Run, dataset: str) -> Table | None:
    """Return how well the true blanket was found, on all rows or else over the splits; None if it is unknown."""
    known = run.rows(run.tables["truth"], dataset=dataset)
    if known.empty:
        return None
    on_all_rows = FINAL in set(known["split"])
    rows = []
    for selector in run.present(known):
        own = run.rows(known, selector=selector)
        splits = own[own["split"] != FINAL]
        shown = run.rows(own, split=FINAL) if on_all_rows else splits
        mean = shown.mean(numeric_only=True)
        found = [
            Cell(f"{number(mean[part], 1)} of {number(mean[whole])}" if len(shown) else NONE, value=mean[part])
            for part, whole in (("n_common", "n_true"), ("n_pc", "n_true_pc"))
        ]
        found += [Cell(number(mean[key], 1), value=mean[key]) for key in ("n_spouses", "n_false")]
        shares = [Cell(fixed(mean[key]), value=mean[key]) for key in ("precision", "recall", "f1")]
        f1 = splits["f1"]
        over_splits = [Cell(mean_sd(f1.mean(), f1.std(ddof=1)), value=f1.mean())] if on_all_rows else []
        rows.append(cells(selector, *found, *shares, *over_splits))
    headers = ["selector", "true members found", "parents and children", "spouses", "false positives"]
    headers += ["precision", "recall", "F1", *(["F1 over the splits"] if on_all_rows else [])]
    return Table(headers, rows, caption="on all rows" if on_all_rows else "mean over the splits")


def score_table(run: Run, dataset: str, metric: str) -> Table:
    """Return a table of selectors by models: mean ± standard deviation, and the difference to all features."""
    scores = run.rows(run.scores(dataset), metric=metric)
    models = list(dict.fromkeys(scores["model"]))
    rows = []
    for selector in dict.fromkeys(scores["selector"]):
        own = run.rows(scores, selector=selector)
        size = own["n_features"].mean()
        row = [Cell(selector), Cell(number(size, 1), value=size)]
        rows.append(row + [_score(run, run.rows(own, model=model), selector) for model in models])
    n_splits = int(scores["n_splits"].max())
    return Table(
        ["selector", "features", *models], rows, caption=f"{metric}, mean ± sd over {count(n_splits, 'split')}"
    )


def _score(run: Run, found: pd.DataFrame, selector: str) -> Cell:
    if found.empty:
        return Cell(NONE)
    row = found.iloc[0]
    if row["n_splits"] == 0:
        return Cell(NONE, {"error": "failed"}.get(row["status"], row["status"]))
    detail = "" if selector == run.baseline else signed(row["difference"])
    if row["difference_low"] == row["difference_low"]:
        detail += f"\n({signed(row['difference_low'])} to {signed(row['difference_high'])})" if detail else ""
    shown = detail if detail != NONE else ""
    if row["status"] != "ok":
        shown = ", ".join(filter(None, (shown, f"{count(int(row['n_splits']), 'split')} only")))
    return Cell(mean_sd(row["mean"], row["sd"]), shown, best=bool(row["best"]), value=row["mean"])


def stability(run: Run, dataset: str) -> Table:
    """Return a table of the variation of each selector's set over the evaluation splits."""
    rows = []
    for row in run.in_order(run.rows(run.tables["stability"], dataset=dataset)).itertuples():
        interval = f"{fixed(row.lower, 2)} to {fixed(row.upper, 2)}" if row.lower == row.lower else NONE
        spread = f" ± {number(row.sd_size, 1)}" if row.sd_size == row.sd_size else ""
        rows.append(
            cells(
                row.selector,
                Cell(fixed(row.stability, 2), row.note, value=row.stability),
                Cell(interval, value=row.lower),
                Cell(fixed(row.between_groups, 2), value=row.between_groups),
                Cell(fixed(row.jaccard, 2), value=row.jaccard),
                Cell(number(row.mean_size, 1) + spread, value=row.mean_size),
                Cell(str(row.n_sets), value=row.n_sets),
            )
        )
    return Table(["selector", "stability", "95 % interval", "between groups", "Jaccard", "size", "sets"], rows)


def runtime(run: Run, dataset: str) -> Table:
    """Return a table of the number of tests and the seconds of each selector."""
    rows = [
        cells(
            row.selector,
            Cell(f"{row.n_tests:,}", value=row.n_tests),
            Cell(seconds(row.selection_seconds), value=row.selection_seconds),
            Cell(seconds(row.evaluation_seconds), value=row.evaluation_seconds),
        )
        for row in run.in_order(run.rows(run.tables["runtime"], dataset=dataset)).itertuples()
    ]
    return Table(["selector", "tests", "selection", "evaluation"], rows)


def held_out_groups(run: Run, dataset: str) -> Table | None:
    """Return a table of groups by selectors: the score on the held-out group and its change from seen groups.

    It uses the leading metric and model of the data set; None without held-out groups.
    """
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    found = run.rows(run.tables["held_out_groups"], dataset=dataset, metric=metric or "", model=model or "")
    if found.empty:
        return None
    names = run.present(found)
    groups = found.drop_duplicates("group")
    rows = [_group_row("mean", groups, found, names)]
    rows += [
        _group_row(group, run.rows(groups, group=group), run.rows(found, group=group), names)
        for group in groups["group"]
    ]
    return Table(["group", "rows", "no feature", *names], rows, caption=f"{model}, {metric}")


def _group_row(name: str, groups: pd.DataFrame, found: pd.DataFrame, selectors: list[str]) -> list[Cell]:
    n_rows, prior = groups["n_rows"].mean(), groups["prior"].mean()
    means = found.groupby("selector")[["value", "seen"]].mean().reindex(selectors)
    scores = [Cell(fixed(own.value), signed(own.value - own.seen), value=own.value) for own in means.itertuples()]
    return cells(name, Cell(number(n_rows, 1), value=n_rows), Cell(fixed(prior), value=prior), *scores)
