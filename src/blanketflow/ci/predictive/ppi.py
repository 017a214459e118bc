"""The predictive permutation independence (PPI) test: does permuting X worsen a model of X and Z?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...core.cards import RESAMPLED, Card
from ...core.errors import UnsupportedError
from ...core.parameters import anything, choice, integer, number
from ...core.results import CIResult, CIResults
from ...core.seeds import seed_32
from ...core.table import Table
from ...models.encode import design, moderate
from ..base import CITest
from ..clusters import Exchange, clusters_of, strata_of
from ..engines import Candidate, columns_of
from ..unbound import permute_option
from .model_losses import Learner
from .risk_differences import (
    DECIMALS,
    Repeats,
    Sources,
    corrected_t,
    draw_repeats,
    risk_differences,
    smallest_p,
    wilcoxon,
)
from .tree_risks import SingleColumnRisks

#: What takes the place of X: values of `copies`.
PERMUTED, CONDITIONAL = "permuted", "conditional"
#: What misleads with conditional copies.
OF_PRODUCTS = (
    "a feature that depends on a product of given ones, and says nothing beyond them, is found dependent too often"
)


@dataclass
class PPI(CITest):
    """PPI test, Algorithm 1 of the PPFS paper.

    In each of `n_repeats` random splits a model learns the target from X and the conditioning set. Then X is permuted
    among the test rows, and the paired risks (log-loss or squared error) are compared by a one-sided test. The columns
    of a set are permuted together.

    With `permute` the test part has whole clusters, which are exchanged or permuted within. The test is unreliable if
    fewer than half of the clusters, or rows, can be exchanged.

    The statistic is the mean risk difference, permuted minus original, rounded to 1e-12. Squared errors are divided by
    the target's variance, so neither the statistic nor ties depend on units.

    ``model="tree"`` grows trees to purity, as the paper does. ``model="binned-tree"`` is for many rows: its columns
    have at most 255 bins, fixed from all rows without the target, and its leaves at least the square root of the number
    of training rows; see docs/ci-tests.md, "Many rows".

    Notes
    -----
    Overlapping splits of one sample are not independent, so ``wilcoxon`` rejects a true null too often: at alpha 0.05
    in 2 %, 10 %, 21 % and 31 % of 1,000 columns for 5, 10, 30 and 100 repeats (n = 100). ``corrected-t`` stays between
    1 % and 5 % (studies/calibration/ppi_false_positives.py). X is permuted marginally, so both reject too often if X is
    correlated with Z: ``corrected-t`` in 18 % of samples at 50 rows and in nearly all at 1,000 rows (docs/ci-tests.md).

    ``copies="conditional"`` keeps the relation of X to Z. A number is replaced by E[X | Z] plus its spread given Z
    times exchanged noise, rounded to a value of X in the test rows; a label's rank within P(level | Z) is exchanged.
    Both are ridge regressions on splines of each given column, which do not use the target. Products of given columns
    are not followed. Given nothing the copy is the permuted column. With ``corrected-t`` true nulls are
    kept, and only strong effects are found; studies/right_ppfs has the rates. Single columns only, without groups.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> test = PPI(n_repeats=10).bind(X)
    >>> bool(test.test(0, 2).p_value < 0.01), bool(test.test(1, 2, given=[0]).p_value < 0.01)
    (True, False)
    """

    card: ClassVar[Card] = Card(
        id="ppi",
        name="predictive permutation independence (PPI) test",
        family="ci-test",
        summary="Permutes X among the test rows of a model and compares risks, for any kind of column and any model.",
        reference="Hassan, Paik, Khare, Hassan (2021) PPFS: Predictive Permutation Feature Selection, "
        "arXiv:2110.10713; corrected-t: Nadeau, Bengio (2003) 10.1023/A:1024068626366.",
        p_values=RESAMPLED,
        guarantee="wilcoxon is not calibrated (overlapping splits), corrected-t is conservative given nothing; both "
        "reject too often where X depends on Z, unless copies: conditional keeps that relation",
        misleads="a feature that depends on the given ones, and says nothing beyond them, is found dependent in 18 % "
        "to 100 % of samples at 0.05, more often with more rows (docs/ci-tests.md)",
        cost="n_repeats model fits per set of columns, shared by its members",
        measures=("p-value",),
        takes_max_rows=True,
        column_sets=True,
    )

    own_models: ClassVar[tuple[str, ...]] = ("binned-tree",)
    exchanges_within_strata: ClassVar[bool] = True

    n_repeats: int = integer(30, "Random train/test splits (the PPFS paper's B).", at_least=2, at_most=100_000)
    model: Any = anything(
        "tree",
        "The model: tree (own CART), binned-tree (own CART on at most 255 bins, for many rows), another model id, "
        "'module:Class', or a scikit-learn estimator.",
    )
    test_size: float = number(0.2, "Share of rows in the test part of a repeat.", above=0, below=1)
    significance: str = choice(
        "wilcoxon", "wilcoxon (the paper) or corrected-t (calibrated).", ("wilcoxon", "corrected-t")
    )
    permute: str = permute_option()
    copies: str = choice(
        PERMUTED,
        "What takes the place of X in test rows: X permuted (permuted, the paper), or a copy that keeps the relation "
        "of X to Z (conditional).",
        (PERMUTED, CONDITIONAL),
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> _PPIEngine:
        """Return the engine; `seed` fixes splits, permutations and copies."""
        return _PPIEngine(self, table, seed)

    @property
    def misleads(self) -> str:
        """What misleads with these copies."""
        return OF_PRODUCTS if self.copies == CONDITIONAL else self.card.misleads

    def smallest_p(self) -> float:
        """Return the p-value of `n_repeats` equal differences; 0 for ``corrected-t``."""
        return smallest_p(self.n_repeats, self.significance)

    def saturated_p(self) -> float:
        """Return the p-value if the risk increases in all repeats, by different amounts; 0 for ``corrected-t``."""
        return _all_positive(self.n_repeats) if self.significance == "wilcoxon" else 0.0

    def to_reach(self, level: float) -> str:
        """Return in words how many repeats are needed if the risk increases in all, and which option has no limit."""
        from ...kernels.signed_rank import MAX_EXACT_PAIRS

        # The first p-values of the normal approximation are larger than the last exact ones.
        enough = (b for b in count(2) if max(map(_all_positive, (b, max(b, MAX_EXACT_PAIRS + 1)))) <= level)
        return f"set n_repeats to at least {next(enough)} (it is {self.n_repeats}), or significance: corrected-t"


def _all_positive(n_repeats: int) -> float:
    return float(wilcoxon(np.arange(1.0, n_repeats + 1.0)[None])[0][0])


class _PPIEngine:
    takes_arrays = True

    def __init__(self, test: PPI, table: Table, seed: int) -> None:
        self.test, self.table, self.seed = test, table, seed
        by = test.permute, clusters_of(test.card.id, table, test.permute), strata_of(table)
        self._is_reliable = Exchange.of(by[0], table.n_rows, *by[1:]).has_some
        self.repeats = draw_repeats(table.n_rows, test.n_repeats, test.test_size, seed, *by)
        self._copies = None
        if test.copies == CONDITIONAL:
            if by[1] is not None or by[2] is not None:
                raise UnsupportedError(
                    f"ppi with copies: {CONDITIONAL} takes no groups or strata. Use the test cpi, or leave copies out."
                )
            from .conditional_copies import ConditionalCopies

            self._copies = ConditionalCopies(table, self.repeats, seed)
        self._risks: dict[int, Any] = {}
        self._single: dict[tuple[int, int], Any] = {}

    def risks(self, target: int) -> Any:
        """Return the object that computes the risks for a target, one per target."""
        if target not in self._risks:
            if self.test.model == "tree":
                from .tree_risks import TreeRisks

                self._risks[target] = TreeRisks(self.table, target, self.repeats)
            else:
                self._risks[target] = self._model_risks(target, self.repeats)
        return self._risks[target]

    def _model_risks(self, target: int, repeats: Repeats) -> Any:
        if self.test.model == "binned-tree":
            from .binned_tree_risks import BinnedTreeRisks

            return BinnedTreeRisks(self.table, target, repeats)

        return EstimatorRisks(self.table, target, repeats, self.seed, self.test.model)

    def _single_column_risks(self, target: int, repeats: Repeats) -> Any:
        if self.test.model == "tree":
            return SingleColumnRisks(self.table, target, repeats)
        return self._model_risks(target, repeats)

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: Sequence[int]) -> CIResults:
        """Compare the risks of every repeat before and after each candidate is permuted."""
        if not given:
            return self.judge(self.marginal_differences(candidates, target))
        return self._judge_each([*map(int, candidates)], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: Sequence[int]) -> CIResults:
        return self._judge_each(candidates, target, given)

    def _judge_each(self, candidates: Sequence[Candidate], target: int, given: Sequence[int]) -> CIResults:
        source = self.risks(target)
        found = (source.conditional(candidate, given, self.sources(candidate, given)) for candidate in candidates)
        risks, permuted = zip(*found, strict=True)
        return self.judge(risk_differences(np.array(risks), np.array(permuted)))

    def sources(self, x: Candidate, given: Iterable[int]) -> Sources | None:
        """Return what computes the copies of a candidate given columns; None if it is permuted."""
        if self._copies is None:
            return None
        columns = columns_of(x)
        if len(columns) > 1:
            raise UnsupportedError(
                f"ppi with copies: {CONDITIONAL} tests single columns, not sets of {len(columns)}. Use the test cpi, "
                "or leave copies out."
            )
        return partial(self._copies.sources, columns[0], tuple(given))

    def marginal_differences(
        self, candidates: Sequence[int] | np.ndarray, target: int, first_repeat: int = 0
    ) -> np.ndarray:
        """Return permuted minus original risk of a model on each candidate alone, shape (m, B - first_repeat)."""
        columns = np.asarray(candidates, dtype=np.int64)
        if (target, first_repeat) not in self._single:
            self._single[target, first_repeat] = self._single_column_risks(target, self.repeats[first_repeat:])
        return self._single[target, first_repeat].differences(columns)

    def backward_elimination(self, members: Sequence[int], target: int) -> _BackwardElimination:
        return _BackwardElimination(self, self.risks(target), members)

    def judge(self, differences: np.ndarray) -> CIResults:
        if self.test.significance == "wilcoxon":
            p_value, log_p = wilcoxon(differences)
            dof = 1.0
        else:
            p_value, log_p = corrected_t(differences, self.repeats.test_share)
            dof = self.test.n_repeats - 1.0
        m, means = len(differences), np.round(differences.mean(axis=1), DECIMALS)
        n, reliable = np.full(m, self.table.n_rows), np.full(m, self._is_reliable)
        return CIResults(means, p_value, log_p, np.full(m, dof), n, reliable)


class _BackwardElimination:
    """Tests of the members of a set, which share the trees of all repeats; dropping one changes trees that use it."""

    def __init__(self, engine: _PPIEngine, source: Any, members: Sequence[int]) -> None:
        self._engine, self._source, self._members = engine, source, dict.fromkeys(members)
        source.offer(members)

    def test(self, column: int) -> CIResult:
        given = (other for other in self._members if other != column)
        risks, permuted = self._source.of(column, self._engine.sources(column, given))
        return self._engine.judge(risk_differences(risks[None], permuted[None]))[0]

    def drop(self, column: int) -> None:
        del self._members[column]
        self._source.drop(column)


class _Fit(NamedTuple):
    estimator: Any
    features: frozenset[int]  # what it was fitted on
    used: frozenset[int]  # the features that it depends on, as far as its model can tell
    columns: np.ndarray  # the columns of its features in the design matrix
    risk: float


class EstimatorRisks:
    """One model per repeat on a set of columns, and its risk before and after some of them are permuted together.

    All features of a set share its models. A model that is known to depend only on a subset U of its features
    (`Model.certify`) is also the model of every set that contains U, and other features have a risk difference of
    exactly zero. So it is refitted only when a feature of U is dropped. `n_fits` counts the models fitted so far.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats, seed: int, model: Any) -> None:
        self.table, self.repeats, self.seed = table, repeats, seed
        self.n_fits = 0
        self._learner = Learner(table[target], model, certified=True)
        self._encoded: tuple[int, ...] = ()
        self._members: frozenset[int] = frozenset()
        self._fits: list[_Fit | None] = [None] * len(repeats.is_train)

    def differences(self, columns: np.ndarray) -> np.ndarray:
        """Return permuted minus original risk of a model on each column alone, rounded to 1e-12, shape (m, B)."""
        pairs = [self.conditional(column, ()) for column in columns.tolist()]
        return risk_differences(np.array([risks for risks, _ in pairs]), np.array([permuted for _, permuted in pairs]))

    def conditional(
        self, x: Candidate, given: Sequence[int], sources: Sources | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return risks before and after `x` is replaced, of models on it and `given` together, both of shape (B,)."""
        self.offer((*columns_of(x), *given))
        return self.of(x, sources)

    def offer(self, columns: Iterable[int]) -> None:
        """Set the columns of the models."""
        self._members = frozenset(columns)
        self._encode(self._members)

    def drop(self, column: int) -> None:
        """Remove a column from the set."""
        self._members -= {column}

    def of(self, x: Candidate, sources: Sources | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' models before and after columns of the set are replaced, both of shape (B,)."""
        self._fit(self._members)
        risks = np.array([fit.risk for fit in self._fits])
        permuted, places = risks.copy(), None
        for b, fit in enumerate(self._fits):
            if moved := [self._blocks[column] for column in columns_of(x) if column in fit.used]:
                places = (sources() if sources else self.repeats.sources) if places is None else places
                permuted[b] = self._risk(fit.estimator, b, fit.columns, moved, places[b])
        return risks, permuted

    def _encode(self, members: frozenset[int]) -> None:
        """Encode the members' design matrix; a subset reuses that of the larger set."""
        if not members <= set(self._encoded):
            self._encoded = tuple(sorted(members))
            encoded = design(moderate(self.table.select(self._encoded)))
            self._matrix = encoded.matrix
            self._blocks = dict(zip(self._encoded, encoded.blocks, strict=True))
            self._fits = [None] * len(self._fits)

    def _fit(self, members: frozenset[int]) -> None:
        """Fit the models that are not valid for a set."""
        stale = [b for b, f in enumerate(self._fits) if f is None or not f.used <= members <= f.features]
        if not stale:
            return
        features = [feature for feature in self._encoded if feature in members]
        blocks = [np.arange(self._blocks[f].start, self._blocks[f].stop) for f in features]
        columns, owner = np.concatenate(blocks), np.repeat(features, [len(block) for block in blocks])
        matrix = self._matrix if len(features) == len(self._encoded) else np.take(self._matrix, columns, axis=1)
        for b in stale:
            seed = seed_32(self.seed, "repeat", self.repeats.first + b, "model")
            estimator = self._learner.fit(matrix, self.repeats.is_train[b], seed)
            used = self._learner.used_columns(estimator)
            depends_on = members if used is None else frozenset(owner[used].tolist())
            self._fits[b] = _Fit(estimator, members, depends_on, columns, self._risk(estimator, b, columns))
            self.n_fits += 1

    def _risk(
        self,
        estimator: Any,
        b: int,
        columns: np.ndarray,
        moved: Sequence[slice] = (),
        places: np.ndarray | slice = slice(None),
    ) -> float:
        """Return the mean loss of a repeat's test rows, with some blocks of the design matrix from their `places`."""
        rows = self.repeats.test_rows[b]
        X = self._matrix[rows]
        for block in moved:
            X[:, block] = self._matrix[rows[places], block]
        X = X if len(columns) == X.shape[1] else np.take(X, columns, axis=1)
        return float(np.mean(self._learner.losses(estimator, X, rows)))
