"""Cross-validated losses of models on the first features of rankings, computed without the held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...core.column import TargetColumn
from ...core.errors import DataError
from ...core.isolation import in_children
from ...core.limits import LimitReached
from ...core.prior import NO_GROUPS
from ...core.rows import balanced_parts, sampled
from ...core.seeds import derive_rng, derive_seed
from ...core.table import Column, Table
from ..base import FoldOutcome, no_search
from .gate import Gate, of_columns, of_trees
from .judged_round import ALL, FEW_FEATURES, NONE, Candidate, Judge, Round
from .pace import Pace
from .portfolio import CONSENSUS, FIRST, RANKINGS, Rows, by_mean_rank, log_ranks
from .yardstick import AUTO, ERROR, LOG_LOSS, calibrated, judged_target, log_loss, ranked_target, roc_auc, yardstick

#: Evaluated numbers of features; above 200 features, up to half of them.
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 200, 400, 800, 1600, 3200)
#: Maximum rows; of more, a sample is drawn.
MOST_ROWS = 2000
#: Rounds with all rankings, at every third size. Then the best are evaluated at all sizes.
FIRST_ROUNDS, COARSE = 2, 3


@dataclass
class Judged:
    """Results of the candidates (ranking, number of features) that were evaluated completely.

    `losses`, (n_candidates, n_losses, n_rows), are means over models of each row's held-out loss. For classes: error,
    and half the squared error of the probabilities (Brier) or the log-loss of calibrated ones; for numbers: squared
    error divided by the target's variance. `by_model` has each model's `score`, (n_candidates,), larger is better.
    `frequency`, (n_candidates, d), is the share of rounds with a feature in the set, `log_ranks`,
    (n_rounds, d), the mean logarithm of ranks over the rankings of a round. `probabilities`, (n_candidates, n_models,
    n_classes, n_rows), are held-out ones, None unless the log-loss decides. `is_perfect`, (n_candidates,), is True if
    no model made an error.
    `metric` is from `yardstick`.

    `gate` is None if stopped before this test, and `stopped` the reason, else empty. `n_rounds` of `n_planned` rounds
    are complete, each with its own training rows; `left_out` are rankings dropped after the first rounds. `n_rows` is
    the number of rows, `most_rows` its maximum. `n_rankings` and `n_fits` count all rounds.
    """

    candidates: list[Candidate]
    losses: np.ndarray
    by_model: dict[str, np.ndarray]
    frequency: np.ndarray
    log_ranks: np.ndarray
    metric: str
    is_perfect: np.ndarray
    truth: np.ndarray
    n_rounds: int
    left_out: list[str] = field(default_factory=list)
    stopped: str = ""
    most_rows: int = MOST_ROWS
    n_rows: int = 0
    n_planned: int = 0
    n_rankings: int = 0
    n_fits: int = 0
    probabilities: np.ndarray | None = None
    gate: Gate | None = None

    @property
    def whole(self) -> int | None:
        """Position of the set of all features; None if it was not evaluated in time."""
        every = (ALL, self.frequency.shape[1])
        return self.candidates.index(every) if every in self.candidates else None

    def reference(self, chosen: int) -> int:
        """Return the position of the reference of a choice: all features, or else none."""
        none = self.candidates.index((NONE, 0))
        return none if self.whole is None or chosen == self.whole else self.whole

    def score(self, at: Any, rows: Any = slice(None)) -> Any:
        """Return the mean ROC AUC of the models, accuracy or R² of candidates (one position or several) on rows."""
        if self.probabilities is not None:
            return roc_auc(self.probabilities[at][..., rows], self.truth[rows]).mean(axis=-1)
        return 1 - self.losses[at, 0][..., rows].mean(axis=-1)

    @property
    def sizes(self) -> np.ndarray:
        """The number of features of each candidate."""
        return np.array([size for _, size in self.candidates])

    def kept(self, counts: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the most frequent features of weighted sets with their frequency; ties go by mean rank."""
        frequency = np.round(counts @ self.frequency, 12)
        order = by_mean_rank(self.log_ranks.mean(axis=0))
        found = order[np.argsort(-frequency[order], kind="stable")][:size]
        return found, frequency[found]

    @property
    def stability(self) -> np.ndarray:
        """Self-weighted mean frequency of a candidate's features: 1 if all rounds chose the same."""
        total = self.frequency.sum(axis=1)
        return np.where(total > 0, (self.frequency**2).sum(axis=1) / np.maximum(total, 1e-300), 1.0)

    def score_outside(self, at: int, weights: np.ndarray) -> float:
        """Return the score of a candidate on the rows outside a sample with `weights`.

        Without features, models predict the most frequent class of the sample in all parts, so that the choice counts
        as part of the answer.
        """
        if self.metric == ERROR and self.candidates[at][0] == NONE:
            most = np.bincount(self.truth.astype(np.int64), weights).argmax()
            return float((self.truth[weights == 0] == most).mean())
        return float(self.score(at, weights == 0))


def judge(
    features: Table,
    target: Column,
    seed: int,
    n_parts: int,
    max_candidates: int,
    pace: Pace,
    count_tests: Callable[[int], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    included: Sequence[int] = (),
    groups: np.ndarray | None = None,
    feature_groups: Mapping[str, tuple[str, ...]] = NO_GROUPS,
    n_jobs: int = 1,
    metric: str = AUTO,
    max_features: int | None = None,
    n_features: int | None = None,
    most_rows: int = MOST_ROWS,
    is_look: bool = False,
    search: Callable[..., FoldOutcome] = no_search,
) -> Judged:
    """Evaluate rankings at several numbers of features by cross-validation.

    For each part, features are ranked on the other rows, and a linear model, nearest neighbours and boosted trees of
    the first features predict the part. All rankings take part in the first rounds, at every third size; then the best
    at all sizes, so that `max_candidates` are evaluated completely: of sizes above `FEW_FEATURES` those up to twice the
    best one of the first rounds. Below 200 rows this is repeated with other parts.
    If the `pace` raises `LimitReached`, complete rounds count, and what was done of the first; before that, it is
    raised. Raises `DataError` for fewer than 4 rows.

    Features at the positions `included` are in all nonempty sets; rows of one group in `groups`, (n,), are held out
    together; `features`, `feature_groups` and `search` are those of `Rows`; `n_jobs` processes share the rounds, which
    changes no answer without a limit; `metric` is a choice of `Auto`; sets except that of all have at most
    `max_features`, or exactly `n_features`; at most `most_rows` rows are used; `is_look` stops after one ranking was
    evaluated once, at small sizes.
    """
    metric, is_residuals = yardstick(target, metric), isinstance(target, TargetColumn) and bool(target.parts)
    own = judged_target(target, metric)
    rows = rows_to_judge(own, seed, most_rows, keeps_rare=metric == LOG_LOSS)
    if len(rows) < 4:
        raise DataError("judging sets of features needs at least 4 rows, to hold some out.")
    features, own = features.take(rows), own.take(rows)
    target = ranked_target(own)
    groups = None if groups is None else groups[rows]
    shared = {"feature_groups": feature_groups, "search": search, "ranks_target": not is_residuals}
    whole = Rows(features, target, 0, pace.check_time, **shared)
    sizes = sizes_of(len(whole.names), len(included), max_features)
    if n_features is not None:
        sizes = [n_features] if n_features < len(whole.names) else []
    coarse = sizes[1::COARSE] or sizes
    calibrated_in = balanced_parts(target.numbers(), n_parts, derive_rng(seed, "auto", "calibrated"), groups)
    rounds = list(_rounds(own, seed, n_parts, groups))
    first, later = rounds[:FIRST_ROUNDS], rounds[FIRST_ROUNDS:]
    judges_all = not is_look or len(whole.names) <= FEW_FEATURES
    judging = _Judging(Judge(whole, own, included, metric, pace, judges_all), calibrated_in, n_jobs, count_tests)
    judging.done = {"most_rows": most_rows, "n_rows": len(rows), "n_planned": len(rounds)}

    def told(this: Round) -> None:
        tell(f"round {judging.n_rounds} of {len(rounds)}: {len(this.known)} sets judged on rows held out")

    with pace.fit("columns", features.n_rows * len(features)):
        found = of_columns(whole, seed, groups)
    seen = found if found.is_open else None
    if is_look:
        judging.alive = [FIRST]
        judging.judge(first[:1], [size for size in coarse if size <= FEW_FEATURES] or coarse[:1])
        return replace(judging.judged(""), gate=seen)
    try:
        judging.judge(first, coarse, told)
        most = max(FEW_FEATURES, 2 * judging.best_size())
        sizes = [size for size in sizes if size <= most or size in (len(included), n_features)]
        judging.keep_best(max(1, max_candidates // max(1, len(sizes))), sizes)
        judging.judge(first, sizes)
        judging.judge(later, sizes, told)
    except LimitReached as limit:
        if not judging.n_rounds:
            raise
        return replace(judging.judged(str(limit)), gate=seen)
    n_fits = pace.n_fits
    try:
        found = of_trees(found, whole, seed, groups, pace)
    except LimitReached as limit:
        return replace(judging.judged(f"before it was known whether any feature helps, {limit}"), n_fits=n_fits)
    return replace(judging.judged(""), gate=found, n_fits=pace.n_fits)


def sizes_of(n_features: int, n_included: int = 0, max_features: int | None = None) -> list[int]:
    """Return the numbers of features to evaluate, except none and all, at least that of the included ones.

    >>> sizes_of(9), sizes_of(9, n_included=7), sizes_of(900, max_features=7)
    ([1, 2, 3, 4, 5, 6, 8], [7, 8], [1, 2, 3, 4, 5, 6, 7])
    """
    most = n_features - 1 if n_features <= 200 else n_features // 2
    sizes = {*SIZES} if max_features is None else {*SIZES, max_features}
    judged = {size for size in sizes if n_included <= size <= min(most, max_features or most)}
    return sorted(judged | ({n_included} if 0 < n_included < n_features else set()))


def rows_to_judge(target: Column, seed: int, most: int, keeps_rare: bool) -> np.ndarray:
    """Return a sample of rows, stratified by class or range.

    With `keeps_rare`, classes get equal numbers of rows as far as possible, since rows of a rare class are the most
    informative. Models and calibration use the same rows, so that all probabilities have the same scale.
    """
    if target.n_rows <= most:
        return np.arange(target.n_rows)
    if keeps_rare:
        rng, codes = derive_rng(seed, "auto", "rows"), target.numbers().astype(np.int64)
        order = np.lexsort([rng.random(len(codes)), codes])
        counts = np.bincount(codes)
        place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(order[np.argsort(place, kind="stable")[:most]])
    return sampled(np.arange(target.n_rows), target.balanced_by, most, derive_seed(seed, "auto", "rows"))


def _rounds(target: Column, seed: int, n_parts: int, groups: np.ndarray | None) -> Iterator[Round]:
    n_repeats = 1 if target.n_rows >= 200 else 2 if target.n_rows >= 100 else 3
    number = 0
    for repeat in range(n_repeats):
        n = min(n_parts, target.n_rows // 2)
        parts = balanced_parts(target.balanced_by, n, derive_rng(seed, "auto", "parts", repeat), groups)
        for part in range(parts.max() + 1):
            yield Round(np.flatnonzero(parts != part), np.flatnonzero(parts == part), derive_seed(seed, "auto", number))
            number += 1


class _Judging:
    """The losses of all candidates, round by round."""

    def __init__(
        self, judge: Judge, calibrated_in: np.ndarray, n_jobs: int, count_tests: Callable[[int], None]
    ) -> None:
        self._judge, self._n_jobs, self._count_tests = judge, n_jobs, count_tests
        self._calibrated_in = calibrated_in  # parts of the rows
        self.done: dict[str, int] = {}  # what is said of all rounds
        self.alive: list[str] = []
        self.left_out: list[str] = []
        self.n_seen = np.zeros(judge.whole.target.n_rows)
        self.n_rankings = 0
        self.losses: dict[Candidate, np.ndarray] = {}  # (models, losses, rows), summed over repeats
        self.counts: dict[Candidate, np.ndarray] = {}  # how often a feature was chosen
        self.rounds: dict[Candidate, int] = {}
        self.ranks: dict[str, list[np.ndarray]] = {}  # logarithms of ranks in each round

    @property
    def n_rounds(self) -> int:
        """Number of complete rounds."""
        return max(self.rounds.values(), default=0)

    def judge(
        self, rounds: Sequence[Round], sizes: Sequence[int], told: Callable[[Round], None] = lambda _: None
    ) -> None:
        """Evaluate the missing candidates of some rounds; `told` is called after each."""
        alive, pace = list(self.alive), self._judge.pace
        before = pace.n_fits
        work = [partial(self._judge.judged, this, alive, sizes) for this in rounds]
        for this, found in zip(rounds, in_children(work, max(1, min(self._n_jobs, len(rounds)))), strict=True):
            pace.n_fits = before
            if before + found["n_fits"] > pace.most_fits:
                raise pace.spent()
            if found["stopped"] and (self.n_rounds or not found["orders"]):
                raise LimitReached(found["stopped"])
            this.take(found)
            self._take(this, sizes)
            pace.n_fits = before = before + found["n_fits"]
            told(this)
            if found["stopped"]:
                raise LimitReached(found["stopped"])

    def _take(self, this: Round, sizes: Sequence[int]) -> None:
        """Add the results of a round."""
        self.alive = self.alive or [name for name in (*RANKINGS, CONSENSUS) if name in this.orders]
        if not this.done:
            self._count_tests(this.n_tests)
            self.n_seen[this.held_out] += 1
            self.n_rankings += len(this.orders)
            for name, order in this.orders.items():
                self.ranks.setdefault(name, []).append(log_ranks(order))
        for candidate, chosen in this.asked(self.alive, sizes).items():
            losses = this.known.get(np.sort(chosen).tobytes())
            if candidate not in this.done and losses is not None:
                whole = (*losses.shape[:2], len(self.n_seen))
                self.losses.setdefault(candidate, np.zeros(whole))[:, :, this.held_out] += losses
                self.counts.setdefault(candidate, np.zeros(len(self._judge.whole.names)))[chosen] += 1
                self.rounds[candidate] = self.rounds.get(candidate, 0) + 1
                this.done.add(candidate)

    def best_size(self) -> int:
        """Return the number of features of the candidate with the least loss, other than all features."""
        loss = self._mean_losses()
        return min(loss, key=lambda candidate: (round(float(loss[candidate]), 9), candidate[1]), default=(ALL, 0))[1]

    def keep_best(self, n: int, sizes: Collection[int]) -> None:
        """Keep the rankings with the least loss, averaged over some numbers of features."""
        loss = self._mean_losses()
        of_each = {name: [of for (r, size), of in loss.items() if r == name and size in sizes] for name in self.alive}
        best = sorted(self.alive, key=lambda name: round(float(np.mean(of_each[name] or [0.0])), 9))[:n]
        self.left_out = [name for name in self.alive if name not in best]
        self.alive = best

    def _mean_losses(self) -> dict[Candidate, float]:
        """Return the mean loss of each candidate but the references."""
        candidates = [candidate for candidate in self.losses if candidate[0] not in (ALL, NONE)]
        if not candidates:
            return {}
        return dict(zip(candidates, self._losses(candidates)[0].mean(axis=(1, 2)).sum(axis=-1), strict=True))

    def judged(self, stopped: str) -> Judged:
        """Return the results of candidates that were evaluated in all rounds."""
        n_rounds, seen = self.n_rounds, self.n_seen > 0
        candidates = [c for c, n in self.rounds.items() if n == n_rounds and c[0] in (*self.alive, ALL, NONE)]
        of_models, probabilities = self._losses(candidates)
        truth = self._judge.whole.y[seen]
        by_model = 1 - of_models[:, :, 0].mean(axis=2) if probabilities is None else roc_auc(probabilities, truth)
        return Judged(
            candidates,
            of_models.mean(axis=1),
            dict(zip(self._judge.panel, by_model.T, strict=True)),
            np.stack([self.counts[c] for c in candidates]) / n_rounds,
            np.mean([self.ranks[name] for name in self.alive], axis=0),
            self._judge.metric,
            np.array([self._judge.classes is not None and not self.losses[c][:, 0].any() for c in candidates]),
            truth,
            n_rounds,
            self.left_out,
            stopped,
            **self.done,
            n_rankings=self.n_rankings,
            n_fits=self._judge.pace.n_fits,
            probabilities=probabilities,
        )

    def _losses(self, candidates: Sequence[Candidate]) -> tuple[np.ndarray, np.ndarray | None]:
        """Return held-out losses, (candidates, models, losses, rows), and probabilities if log-loss decides."""
        seen = self.n_seen > 0
        losses = np.stack([self.losses[c][:, :, seen] for c in candidates]) / self.n_seen[seen]
        if self._judge.metric != LOG_LOSS:
            return losses, None
        said, truth = losses[:, :, 1:], self._judge.whole.y[seen]
        shares = np.bincount(truth.astype(np.int64), minlength=said.shape[2]) / len(truth)
        is_none = [c[0] == NONE for c in candidates]
        said[is_none] = shares[:, np.newaxis]
        flat = calibrated(said.reshape(-1, *said.shape[2:]), truth, self._calibrated_in[seen]).reshape(said.shape)
        flat[is_none] = shares[:, np.newaxis]
        return log_loss(flat, truth)[:, :, np.newaxis], said
