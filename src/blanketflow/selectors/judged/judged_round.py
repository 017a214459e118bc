"""One round, independent of others: features are ranked on some rows, and models of the first predict the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.cards import CLASSIFICATION
from ...core.column import TargetColumn
from ...core.limits import LimitReached
from ...core.seeds import seed_32
from ...core.table import Column
from ...models.base import Model, predicted, probabilities
from ...models.knn import KNN
from ...models.lightgbm import LightGBM
from ...models.responses import response
from ..learning import estimator_for, task_of
from .losses_of_kinds import Losses, losses_of
from .pace import Pace
from .portfolio import Rows, boosted_model, linear_model, rankings
from .yardstick import ERROR, LOG_LOSS, smoothed

#: The references: all features, and none.
ALL, NONE = "all", "none"
#: Sets of up to so many features are evaluated first, since models are fitted to them quickly.
FEW_FEATURES = 32
#: A ranking and a number of features.
Candidate = tuple[str, int]


def panel_of(target: Column) -> dict[str, Model]:
    """Return the models by name; neighbours know classes and numbers only."""
    if isinstance(target, TargetColumn):
        return {"linear": linear_model(target), "boosted": boosted_model(target)}
    return {"linear": linear_model(target), "neighbours": KNN(), "boosted": boosted_model(target)}


@dataclass
class Round:
    """Training rows, their rankings, and held-out rows.

    `known` caches held-out losses by set, (models, losses, rows), since rankings share sets. `n_tests` counts CI tests.
    """

    train: np.ndarray
    held_out: np.ndarray
    seed: int
    orders: dict[str, np.ndarray] = field(default_factory=dict)
    known: dict[bytes, np.ndarray] = field(default_factory=dict)
    done: set[Candidate] = field(default_factory=set)
    n_tests: int = 0

    def asked(self, alive: Collection[str], sizes: Sequence[int]) -> dict[Candidate, np.ndarray]:
        """Return the features of each candidate, from the rankings `alive` or all, and of the references."""
        d = len(next(iter(self.orders.values())))
        asked = {(name, size): self.orders[name][:size] for name in alive or self.orders for size in sizes}
        return asked | {(ALL, d): np.arange(d), (NONE, 0): np.arange(0)}

    def take(self, found: Mapping[str, Any]) -> None:
        """Add the result of `Judge.judged`."""
        self.orders, self.n_tests = found["orders"], found["n_tests"]
        self.known |= {chosen.tobytes(): losses for chosen, losses in found["losses"]}


@dataclass
class Judge:
    """Rows and models of all rounds.

    `target` is what models learn, that of a further kind with its parts; `whole` has it as rankings read it.
    The `pace` counts fits, and stops them with `LimitReached`. Features at the positions `included` come first in all
    rankings. `metric` is from `yardstick`. `judges_all` says whether the set of all features is evaluated.
    """

    whole: Rows
    target: Column
    included: Sequence[int] = ()
    metric: str = ERROR
    pace: Pace = field(default_factory=Pace)
    judges_all: bool = True

    @cached_property
    def panel(self) -> dict[str, Model]:
        """The models by name."""
        models = panel_of(self.target).items()  # which are judged by risks, not by survival curves
        return {name: replace(model, parts=1) if isinstance(model, LightGBM) else model for name, model in models}

    @cached_property
    def losses_of_kind(self) -> Losses | None:
        """The losses of a further kind; None for classes and numbers."""
        return losses_of(self.target) if isinstance(self.target, TargetColumn) else None

    @cached_property
    def y(self) -> np.ndarray:
        """What models learn, (n,)."""
        is_further = isinstance(self.target, TargetColumn)
        return response(self.target, self.target.target_kind) if is_further else self.whole.y

    @cached_property
    def classes(self) -> np.ndarray | None:
        """Codes of the target's classes; None for numbers."""
        return np.arange(len(self.whole.target.levels)) if task_of(self.whole.target) == CLASSIFICATION else None

    @cached_property
    def scale(self) -> float:
        """Unit of losses: the variance of a numeric target."""
        return 1.0 if self.classes is not None else float(np.var(self.whole.y)) or 1.0

    def judged(self, this: Round, alive: Collection[str], sizes: Sequence[int]) -> dict[str, Any]:
        """Evaluate the unknown sets of some or all rankings at several numbers of features.

        Small sets of each ranking come before the next ranking is computed, so that little is lost if this is stopped.
        Returns rankings by name (if stopped, those with an evaluated set), sets with their losses, the numbers of CI
        tests and of fits, and the reason if stopped.
        """
        from sklearn import config_context
        from threadpoolctl import threadpool_limits

        losses: list[list[np.ndarray]] = []
        counts = [this.n_tests]
        done: dict[str, Any] = {"orders": {}, "losses": losses, "n_tests": this.n_tests, "n_fits": 0, "stopped": ""}
        known, orders, before = set(this.known), dict(this.orders), self.pace.n_fits
        try:
            # The numbers are finite and the parameters valid: checks take a seventh of the time on a small table.
            # The matrices are small, and threads would wait for each other.
            with config_context(assume_finite=True, skip_parameter_validation=True), threadpool_limits(1):
                for chosen in map(np.sort, self._in_turn(this, alive, sizes, orders, counts)):
                    if chosen.tobytes() not in known:
                        losses.append([chosen, self._losses(chosen, this)])
                        known.add(chosen.tobytes())
                    done |= {"orders": dict(orders), "n_tests": sum(counts), "n_fits": self.pace.n_fits - before}
        except LimitReached as limit:
            return done | {"stopped": str(limit)}
        return done

    def _in_turn(
        self,
        this: Round,
        alive: Collection[str],
        sizes: Sequence[int],
        orders: dict[str, np.ndarray],
        counts: list[int],
    ) -> Iterator[np.ndarray]:
        """Yield the sets to evaluate, smallest first; add new rankings to `orders`, and tests to `counts`."""
        everything = np.arange(len(self.whole.names))
        few = [size for size in sizes if size <= FEW_FEATURES]
        yield everything[:0]
        for at, (name, order) in enumerate(list(orders.items()) or self._ranked(this, alive, counts)):
            orders[name] = order
            if not alive or name in alive:
                yield from (order[:size] for size in few)
            if not at and self.judges_all and len(everything) <= FEW_FEATURES:
                yield everything
        for size in sizes[len(few) :]:
            yield from (order[:size] for name, order in orders.items() if not alive or name in alive)
        if self.judges_all:
            yield everything

    def _ranked(self, this: Round, alive: Collection[str], counts: list[int]) -> Iterator[tuple[str, np.ndarray]]:
        whole = self.whole
        taught = {"features": whole.features.take(this.train), "target": whole.target.take(this.train)}
        rows = replace(whole, **taught, seed=this.seed, count_tests=counts.append)
        for name, order in rankings(rows, alive, self.pace):
            yield name, _ahead(order, self.included)

    def _losses(self, chosen: np.ndarray, this: Round) -> np.ndarray:
        """Return the held-out losses, (models, losses, rows), with uncalibrated probabilities if log-loss decides."""
        train, held_out = this.train, this.held_out
        blocks = [self.whole.design.blocks[j] for j in chosen]
        columns = np.concatenate([np.arange(b.start, b.stop) for b in blocks]) if blocks else np.arange(0)
        X, y = self.whole.design.matrix, self.y
        X = X if len(columns) == X.shape[1] else X[:, columns]  # of a wide table, a copy takes long
        taught, asked = (X[rows] if len(columns) else np.zeros((len(rows), 1)) for rows in (train, held_out))
        found = []
        for name, model in self.panel.items():
            with self.pace.fit(name if len(columns) else NONE, taught.size):
                estimator = estimator_for(model, self.target, seed_32(this.seed, name), X, train)
                estimator.fit(taught, y[train])
                n_votes = model.n_neighbors if isinstance(model, KNN) else len(train)
                found.append(self._loss(estimator, asked, y[train], y[held_out], n_votes))
            if not len(columns):
                return np.stack(found * len(self.panel))
        return np.stack(found)

    def _loss(self, estimator: Any, X: np.ndarray, taught: np.ndarray, truth: np.ndarray, n_votes: int) -> np.ndarray:
        if self.losses_of_kind is not None:
            return self.losses_of_kind(estimator, X, taught, truth)[np.newaxis]
        if self.classes is None:
            return ((truth - predicted(estimator, X)) ** 2)[np.newaxis] / self.scale
        said, classes = probabilities(estimator, X, np.unique(taught))
        whole = np.zeros((len(X), len(self.classes)))
        whole[:, classes.astype(int)] = said
        wrong = (np.round(whole, 12).argmax(axis=1) != truth).astype(float)
        if self.metric == LOG_LOSS:
            return np.stack([wrong, *smoothed(whole, n_votes, taught).T])
        is_true = truth[:, np.newaxis] == self.classes
        return np.stack([wrong, ((whole - is_true) ** 2).sum(axis=1) / 2])


def _ahead(order: np.ndarray, first: Sequence[int]) -> np.ndarray:
    """Return the ranking with some features moved to the front."""
    return np.concatenate([np.array(first, dtype=order.dtype), order[~np.isin(order, first)]]) if len(first) else order
