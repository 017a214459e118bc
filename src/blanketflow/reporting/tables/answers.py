"""The answer for each data set: the features to keep, the scores with them, and whether models learned anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...data.artefact_columns import Column, rows_of
from ...data.findings import in_lines
from ...data.splits import FINAL
from ..formatting import count, fixed, interval, metric_name, number, signed, some
from .result_table import ALL, NOTHING, Found, by_importance, competes, frame, is_reference, rows_where, selector_of
from .scores import behind_the_best, is_higher_better, leading_metrics, leading_model

if TYPE_CHECKING:
    import pandas as pd

#: A set loses nothing if its mean score is behind the best by at most this share of the standard error of their
#: difference and, for metrics with perfect score 1, by at most this much.
SHARE_OF_ERROR, MOST_LOST = 0.5, 0.01
#: Largest number of features named in a sentence.
MOST_NAMED = 12
_OF_SHARES = (
    *("accuracy", "balanced-accuracy", "roc-auc", "kappa", "r2", "error"),
    *("uno-concordance", "concordance", "time-auc", "quadratic-kappa"),
)
#: Whether models learned something.
YES, ONLY_ALL, NOT_SHOWN, NOT_KNOWN = "yes", "with all features only", "not shown", "not known"

ANSWERS = rows_of(
    "data set: which features to keep, and how sure that is",
    "dataset selector n_features model metric answer scores learned evidence warning",
    selector=Column("string", "id of the selector whose set is the answer; empty if none has a result"),
    n_features=Column("int64", "features of this set"),
    model=Column("string", "id of the model by which the data set is judged first; empty without scores"),
    metric=Column("string", "name of the metric by which it is judged first; empty without scores"),
    answer=Column("string", "which features to keep, in words"),
    scores=Column("string", "how models do with them on rows that the selection did not see, in words"),
    learned=Column("string", f"whether models do better than without any feature: {YES}, {ONLY_ALL}, {NOT_SHOWN} or "
                   f"{NOT_KNOWN}"),
    evidence=Column("string", "what this rests on, in words"),
    warning=Column("string", "what to look at in the table first, in one line; empty if there is nothing"),
)  # fmt: skip


def answers(found: Found) -> pd.DataFrame:
    """Return the answer for each data set.

    It is from ``auto``, or else the smallest set of a reliable search that loses nothing against the best mean.
    """
    return frame(ANSWERS, [_answer(found, dataset) for dataset in found.cards])


def _answer(found: Found, dataset: str) -> dict[str, Any]:
    scores = rows_where(found.scores, dataset=dataset)
    metrics = leading_metrics(scores, found.cards[dataset], found.selectors)
    model = leading_model(scores, metrics[0] if metrics else None, found.selectors)
    shown = scores[(scores["model"] == model)].dropna(subset=["mean"])
    row = {"dataset": dataset, "selector": "", "n_features": 0, "scores": "", "learned": NOT_KNOWN, "evidence": ""}
    row |= {"model": model or "", "metric": metrics[0] if metrics else ""}
    row["warning"] = "; ".join(in_lines(found.cards[dataset].get("findings", [])))
    sizes = _sizes(found, dataset)
    selector, why = _chosen(found, dataset, shown, row["metric"], sizes)
    if selector is None:
        n = count(found.cards[dataset]["n_features"], "feature")
        return row | {"answer": f"No selector has a result on its {n}."}
    row |= {"selector": selector, "n_features": sizes.get(selector, 0)}
    row["answer"] = " ".join(filter(None, (_words(found, dataset, selector, sizes, scores), why)))
    row["answer"] += _doubt(found, dataset, selector)
    if metrics and selector in set(shown["selector"]):
        row["scores"] = _scored(found, shown, selector, metrics)
        row["learned"], row["evidence"] = _learned(found, shown, selector, metrics[0])
    return row


def _doubt(found: Found, dataset: str, selector: str) -> str:
    """Return how the final search ended if it was not ``ok``, after a blank."""
    own = rows_where(found.ended, stage="select", dataset=dataset, selector=selector, split=FINAL)
    return "".join(f" But it is {row.status}: {row.reason}." for row in own.itertuples() if row.status != "ok")


def _sizes(found: Found, dataset: str) -> dict[str, int]:
    """Return the size of the final blanket of each selector that has one."""
    ran = rows_where(found.folds, dataset=dataset, split=FINAL)["selector"].unique()
    final = rows_where(found.blankets, dataset=dataset, split=FINAL)
    kept = final[final["chosen"].astype(bool)].groupby("selector", observed=True).size()
    return {name: int(kept.get(name, 0)) for name in ran}


def _chosen(
    found: Found, dataset: str, shown: pd.DataFrame, metric: str, sizes: dict[str, int]
) -> tuple[str | None, str]:
    """Return the selector whose set is the answer, and why if there are several."""
    present = {*sizes, *shown["selector"]}
    names = [name for name in found.selectors if name in present and not is_reference(name, found.selectors)]
    automatic = next((name for name in names if found.selectors[name].get("method") == "auto"), None)
    if automatic is not None or not names:
        return automatic, ""
    ended = rows_where(found.ended, dataset=dataset, stage="select")
    doubtful = set(ended.loc[ended["status"] != "ok", "selector"])
    able = [name for name in names if name not in doubtful] or names
    scored = [name for name in able if name in set(shown.loc[shown["metric"] == metric, "selector"])]
    if not scored:
        return able[0], ""
    mean_sizes = shown[shown["metric"] == metric].set_index("selector")["n_features"].to_dict()
    lost = _lost(found, dataset, shown, metric)
    losing_nothing = [name for name in scored if name in lost and lost[name] <= 0]
    if not losing_nothing:
        best = min(scored, key=lambda name: lost.get(name, float("inf")))
        return best, _why(best, scored, "loses the least, but loses something, against the best score")
    smallest = min(losing_nothing, key=lambda name: (mean_sizes[name], lost[name]))
    return smallest, _why(smallest, scored, "keeps the smallest set that loses nothing against the best score")


def _why(selector: str, scored: Sequence[str], what: str) -> str:
    flattered = "Having been chosen by its score, it looks a little better than it is."
    return f"Of {len(scored)} selectors {selector} {what}. {flattered}" if len(scored) > 1 else ""


def _lost(found: Found, dataset: str, shown: pd.DataFrame, metric: str) -> dict[str, float]:
    """Return the loss of each selector against the best, less the tolerance."""
    where = {"dataset": dataset, "model": shown["model"].iloc[0], "metric": metric}
    rows = rows_where(found.evaluations.dropna(subset=["value"]), **where)
    values = rows.pivot(index="split", columns="selector", values="value").astype("float64").dropna(axis=1)
    values = values[[name for name in values if competes(name, found.selectors)]]
    if values.empty:
        return {}
    behind = behind_the_best(values, is_higher_better(metric), found.n_parts or len(values))
    most = MOST_LOST if metric in _OF_SHARES else float("inf")
    allowed = {name: SHARE_OF_ERROR * mean.error if mean.error == mean.error else 0.0 for name, mean in behind.items()}
    return {name: mean.value - min(allowed[name], most) - 1e-12 for name, mean in behind.items()}


def _words(found: Found, dataset: str, selector: str, sizes: dict[str, int], scores: pd.DataFrame) -> str:
    """Return the features to keep in words, by the method itself if it has any."""
    n = found.cards[dataset]["n_features"]
    if selector not in sizes:
        mean = scores.loc[scores["selector"] == selector, "n_features"].mean()
        return f"{selector} keeps {number(mean, 1)} of {count(n, 'feature')} on average; there is no final blanket."
    of = {"dataset": dataset, "selector": selector, "split": FINAL}
    verdict = next((said for said in rows_where(found.ended, **of)["verdict"] if said), "")
    if verdict:
        return verdict
    if not sizes[selector]:
        return f"{selector} keeps none of {count(n, 'feature')}."
    final = rows_where(found.blankets, **of)
    ordered = by_importance(final[final["chosen"].astype(bool)])
    this = "this" if sizes[selector] == 1 else "these"
    return f"Keep {this} {sizes[selector]} of {count(n, 'feature')}: {some(list(ordered['feature']), MOST_NAMED)}."


def _scored(found: Found, shown: pd.DataFrame, selector: str, metrics: Sequence[str]) -> str:
    """Return the scores with the selected features, without features and with all, leading metric first."""
    every, none = (selector_of(method, found.selectors) for method in (ALL, NOTHING))
    parts = []
    for metric in metrics:
        rows = shown[shown["metric"] == metric].set_index("selector")
        if selector not in rows.index:
            continue
        own, means = rows.loc[selector], rows["mean"]
        text = f"{metric_name(metric)} {fixed(own['mean'])}{interval(own['low'], own['high'], fixed)}"
        text += f", {fixed(means[every])} with all features" if every in means else ""
        text += f" and {fixed(means[none])} without any" if none in means else ""
        if every in means and not parts:
            between = interval(own["difference_low"], own["difference_high"], signed)
            text += f"; difference to all {signed(own['difference'])}{between}"
        parts.append(text)
    n_splits, model = int(own["n_splits"]), own["model"]
    where = "the test rows" if n_splits == 1 else f"{n_splits} splits"
    text = f"On rows that the selection did not see ({where}), {model} has {'; '.join(parts)}."
    leading = rows_where(shown, metric=metrics[0], selector=selector).iloc[0]
    return " ".join(filter(None, (text, in_words_of_the_target(leading))))


def in_words_of_the_target(row: pd.Series) -> str:
    """Return what a leading score means for the target; empty for metrics that say it themselves."""
    if row["metric"] in ("uno-concordance", "concordance"):
        return (
            f"Of two rows, the one with the higher predicted risk has the event first in {row['mean']:.0%} of pairs; "
            "by chance it would be half of them."
        )
    if row["metric"].endswith("-deviance") and row["gain"] > 0:
        without = row["mean"] + row["gain"]
        return f"The features take away {row['gain'] / without:.0%} of the deviance without any feature."
    if row["metric"] == "quadratic-kappa":
        return "Of this kappa, 0 is agreement by chance and 1 is perfect; classes far off count more than near ones."
    return ""


def _learned(found: Found, shown: pd.DataFrame, selector: str, metric: str) -> tuple[str, str]:
    """Return whether models learned anything, with a sentence."""
    rows = shown[shown["metric"] == metric].set_index("selector")
    own, every = rows.loc[selector], selector_of(ALL, found.selectors)
    if own["gain_low"] != own["gain_low"]:
        few = own["gain"] == own["gain"]
        return NOT_KNOWN, "From one split it cannot be told whether anything was learned." if few else ""
    name = metric_name(metric)
    if own["gain_low"] > 0:
        return YES, f"Something was learned: {_better(name, own)}."
    if every in rows.index and rows.loc[every, "gain_low"] > 0:
        whole = f"With all features something was learned: {_better(name, rows.loc[every])}."
        return ONLY_ALL, f"{whole} With these features that is not shown: {_better(name, own)}."
    return NOT_SHOWN, f"It is not shown that anything was learned: {_better(name, own)}."


def _better(metric: str, row: pd.Series) -> str:
    how = f"{fixed(abs(row['gain']))} {'better' if row['gain'] >= 0 else 'worse'}"
    return f"{metric} is {how} than without any feature{interval(row['gain_low'], row['gain_high'], signed)}"
