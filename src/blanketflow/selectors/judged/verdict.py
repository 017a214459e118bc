"""The verdict on the chosen set: a sentence, its scores, and the alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import numpy as np

from ...core.table import Column
from ...moves.smallest_set import MOST_LOST, Corrected
from .held_out import Judged
from .judged_round import ALL, NONE
from .yardstick import ERROR, LOG_LOSS, SPOKEN

#: Number of features named in a sentence, and of those not kept that are told.
MOST_NAMED, MOST_NEXT = 12, 3


def verdict(
    judged: Judged,
    chosen: int,
    corrected: Corrected,
    fewer: int,
    kept: Mapping[str, float],
    target: Column,
) -> dict[str, Any]:
    """Return the sentence, the scores and the alternatives of a choice, as a dict.

    ``scores`` of each model, their mean, and the mean corrected for the choice, for the chosen set and all features;
    ``best_model``; ``alternatives``, by number of features, with the best ranking, its score with its 95 %
    interval over the rows, log-loss where that decides, and difference to all features (None if these were not
    evaluated); the rankings ``left_out``; and ``rests_on``: rows, complete and planned resamples, rankings and fits.

    `fewer` is the size of the smallest set that may be as good on these rows. `kept` has the share of resamples that
    chose each feature.
    """
    metric, _ = SPOKEN[judged.metric]
    scores, whole = judged.score(np.arange(len(judged.candidates))), judged.whole
    score = {"metric": metric, **asdict(corrected)}
    alternatives = []
    for size in sorted(set(judged.sizes.tolist())):
        of_size = np.flatnonzero(judged.sizes == size)
        at = chosen if chosen in of_size else max(of_size, key=lambda i: (round(scores[i], 12), -i))
        ranking = judged.candidates[at][0]
        alternatives.append(
            {
                "n_features": size,
                "ranking": ranking,
                metric: float(scores[at]),
                **({"log_loss": float(judged.losses[at, 0].mean())} if judged.metric == LOG_LOSS else {}),
                **_interval(judged, at, float(scores[at])),
                "difference": None if whole is None else float(scores[at] - scores[whole]),
                "stability": float(judged.stability[at]),
                "chosen": bool(at == chosen),
            }
        )
    scores_of = judged.by_model | {"mean": scores}
    rows = []
    for name, of in scores_of.items():
        mine, theirs = float(of[chosen]), None if whole is None else float(of[whole])
        difference = None if theirs is None else mine - theirs
        rows.append({"model": name, "metric": metric, "chosen": mine, "all": theirs, "difference": difference})
    is_all = judged.candidates[judged.reference(chosen)][0] == ALL
    corrected_row = {"model": "corrected", **score, "all" if is_all else "none": score["reference"]}
    del corrected_row["reference"]
    return {
        "sentence": _sentence(judged, chosen, score, fewer, kept, target),
        "scores": [*rows, corrected_row],
        "best_model": max(judged.by_model, key=lambda name: round(judged.by_model[name][chosen], 9)),
        "alternatives": alternatives,
        "left_out": judged.left_out,
        "rests_on": {
            "rows": judged.n_rows,
            "resamples": judged.n_rounds,
            "of": judged.n_planned,
            "rankings": judged.n_rankings,
            "fits": judged.n_fits,
        },
    }


def _interval(judged: Judged, at: int, score: float) -> dict[str, float | None]:
    """Return the 95 % interval of a candidate's score over the rows; None for a score that is no mean over rows."""
    losses = judged.losses[at, 0]
    if judged.probabilities is not None or len(losses) < 2:
        return {"low": None, "high": None}
    half = float(1.96 * losses.std(ddof=1) / np.sqrt(len(losses)))
    return {"low": score - half, "high": score + half}


def ranked(judged: Judged, counts: np.ndarray, names: Sequence[str], kept: Sequence[str]) -> list[dict[str, Any]]:
    """Return the first features kept, and the next ones not kept, with frequency and importance in the resamples.

    ``times`` is how often a feature was chosen, a mean over the sets that may be the answer; ``low`` and ``high`` are
    the least and greatest importance in a resample.
    """
    found, _ = judged.kept(counts, len(kept) + MOST_NEXT)
    frequency, among = counts @ judged.frequency, {names[j]: int(j) for j in range(len(names))}
    others = [names[j] for j in found if names[j] not in kept]
    shown = [among[name] for name in (*kept[:MOST_NAMED], *others[:MOST_NEXT]) if name in among]
    importance, in_each = np.exp(-judged.log_ranks.mean(axis=0)), np.exp(-judged.log_ranks)
    return [
        {
            "feature": names[j],
            "kept": names[j] in kept,
            "times": round(float(frequency[j] * judged.n_rounds), 6),
            "of": judged.n_rounds,
            "importance": round(float(importance[j]), 6),
            "low": round(float(in_each[:, j].min()), 6),
            "high": round(float(in_each[:, j].max()), 6),
        }
        for j in shown
    ]


def rests_on_in_words(rests_on: Mapping[str, int]) -> str:
    """Return ``rests_on`` of a verdict in words.

    >>> rests_on_in_words({"rows": 2000, "resamples": 1, "of": 5, "rankings": 3, "fits": 40})
    'it rests on 1 of 5 resamples of 2,000 rows, 3 rankings and 40 fits of models'
    """
    done, planned = rests_on["resamples"], rests_on["of"]
    resamples = f"{done} resamples" if done == planned else f"{done} of {planned} resamples"
    rankings = "1 ranking" if rests_on["rankings"] == 1 else f"{rests_on['rankings']:,} rankings"
    return f"it rests on {resamples} of {rests_on['rows']:,} rows, {rankings} and {rests_on['fits']:,} fits of models"


def _sentence(
    judged: Judged,
    chosen: int,
    score: Mapping[str, Any],
    fewer: int,
    kept: Mapping[str, float],
    target: Column,
) -> str:
    n, label, (name, _) = judged.frequency.shape[1], SPOKEN[judged.metric][1], judged.candidates[chosen]
    reference = judged.reference(chosen)
    numbers = (
        f"{label} {score['chosen']:.3f} against {score['reference']:.3f}, difference {_signed(score['difference'])} "
        f"(95 % interval {_signed(score['low'])} to {_signed(score['high'])})"
    ).replace("-", "\N{MINUS SIGN}")
    if judged.metric == LOG_LOSS:
        losses = judged.losses[[chosen, reference], 0].mean(axis=1)
        numbers += f"; log-loss {losses[0]:.3f} against {losses[1]:.3f}"
    if name == NONE:
        against = "" if reference == chosen else f" Without any against all: {numbers}."
        return f"{_nothing(judged, target)}{against}"
    unsure = _undecided(fewer, judged.losses.shape[2]) if fewer < int(judged.sizes[chosen]) else ""
    if judged.gate is not None and not judged.gate.is_open:  # what is kept was asked for
        unsure = f"{unsure} {_nothing(judged, target)}".strip()
    if name == ALL:
        lost = f"Keep all {n} features: every smaller set that was judged loses. With all against none: {numbers}."
        return " ".join(filter(None, (lost, unsure)))
    named = ", ".join([*kept][:MOST_NAMED]) + (f" and {len(kept) - MOST_NAMED} more" if len(kept) > MOST_NAMED else "")
    this, it = ("this", "it") if len(kept) == 1 else ("these", "them")
    others = "with all" if judged.candidates[reference][0] == ALL else "without any"
    found = [f"Keep {this} {len(kept)} of {n} features: {named}.", f"Models {_how(score, it)} {others}: {numbers}."]
    if judged.n_rounds > 1:
        times = f"{fmean(kept.values()) * judged.n_rounds:.1f}".removesuffix(".0")
        each = "it" if len(kept) == 1 else "each"
        found.append(f"On average {each} was chosen in {times} of {judged.n_rounds} resamples.")
    found += [unsure] if unsure else []
    return " ".join(found)


def _nothing(judged: Judged, target: Column) -> str:
    """Return the sentence for no feature, with the effect that would have been detected."""
    n, gate = judged.frequency.shape[1], judged.gate
    if gate is None:
        return f"Models predict no better with any of the {n} features than without; whether any helps was not tested."
    rows = f"{judged.losses.shape[2]:,} rows"
    if judged.metric not in (ERROR, LOG_LOSS):
        seen = "rank correlation"
    else:
        counts = np.bincount(judged.truth.astype(np.int64), minlength=len(target.levels)).tolist()
        few, label = min((count, at) for at, count in enumerate(counts) if count)
        rows, seen = f"{rows}, {few:,} of them {target.levels[label]}", "ROC AUC"
    found = f"No feature was found to help: with these {rows}, "
    if gate.visible >= 1:
        return f"{found}none of the {n} could have been seen by itself."
    return f"{found}one of the {n} would have been seen by itself at a {seen} of {gate.visible:.2f}."


def _signed(value: float) -> str:
    """Return a number with its sign, unless it rounds to zero.

    >>> _signed(0.0312), _signed(-0.0002)
    ('+0.031', '0.000')
    """
    text = f"{value:+.3f}"
    return text if float(text) else text[1:]


def _undecided(fewer: int, n_rows: int) -> str:
    what = "no feature at all" if not fewer else "1 feature" if fewer == 1 else f"{fewer} features"
    return f"Whether {what} would do as well cannot be decided with these {n_rows:,} rows, so more were kept."


def _how(score: Mapping[str, Any], it: str) -> str:
    if score["low"] > 0:
        return f"do better with {it} than"
    if score["high"] < 0:
        return f"do worse with {it} than"
    return f"do as well with {it} as" if score["difference"] >= -MOST_LOST else f"may do worse with {it} than"
