"""Rankings of features by how the target depends on them: information, F tests, near rows, a search for a blanket."""

from __future__ import annotations

import numpy as np

from ...ci.contingency.g2_and_chi2 import G2
from ...ci.feature_groups import variables
from ...core.cards import CLASSIFICATION
from ...core.numerics import standardised
from ..base import FoldOutcome
from ..causal.iamb import IAMB
from ..filters.information_criteria import JMI, MIM
from ..filters.relief import Relief
from ..learning import task_of
from ..ranking import RankingMethod
from .rows import Rows

#: Level at which the search for a blanket admits features: a loose one, since beginnings of its order are judged.
ALPHA = 0.1
#: Features that take part where each is compared with those that were taken; the others follow by mutual information.
MOST_COMPARED = 100
#: Differences between two rows in one feature that Relief looks at. Of more rows some are drawn.
MOST_DIFFERENCES, FEWEST_ROWS = 200_000_000, 30


def by_information(rows: Rows) -> np.ndarray:
    """Rank by mutual information with the target, of numbers in five bins; features of one value are last."""
    order = _by_criterion(rows, MIM(n_features=len(rows.names)))
    return np.concatenate([order, np.setdiff1d(np.arange(len(rows.names)), order)])


def by_joint_information(rows: Rows) -> np.ndarray:
    """Rank by JMI: the information that a feature has together with each of those taken before."""
    return _by_criterion(rows, JMI(n_features=min(MOST_COMPARED, len(rows.names))))


def by_f_test(rows: Rows) -> np.ndarray:
    """Rank by the F statistic of a column and the target; a feature of labels has its best level's.

    It grows with the share of variance that one explains of the other, which is what is computed.
    """
    X = standardised(rows.design.matrix.T)  # (columns, n), of length 1
    if task_of(rows.target) == CLASSIFICATION:
        is_class = rows.y[:, np.newaxis] == np.unique(rows.y)
        explained = ((X @ is_class) ** 2 / is_class.sum(axis=0)).sum(axis=1)
    else:
        explained = (X @ standardised(rows.y[np.newaxis].astype(float))[0]) ** 2
    rows.check_time()
    weights = np.maximum.reduceat(np.round(explained, 12), [block.start for block in rows.design.blocks])
    return np.argsort(-weights, kind="stable")


def by_near_rows(rows: Rows) -> np.ndarray:
    """Rank by Relief: how much a feature differs between near rows with other targets."""
    n, d = rows.features.n_rows, len(rows.features)
    n_drawn = max(FEWEST_ROWS, MOST_DIFFERENCES // (n * d))
    method = Relief(n_features=len(rows.names), n_iterations=None if n_drawn >= n else n_drawn)
    return _order(rows, rows.run(method, None))


def by_blanket(rows: Rows) -> np.ndarray:
    """Give the features in the order in which IAMB admits them, with the CI test that suits the rows.

    What IAMB admits at a smaller level is a beginning of this order.
    """
    found = rows.run(IAMB(alpha=ALPHA), rows.test)
    rows.count_tests(found.n_tests)
    return _order(rows, found)


def _by_criterion(rows: Rows, method: RankingMethod) -> np.ndarray:
    return _order(rows, rows.run(method, G2()))


def _order(rows: Rows, outcome: FoldOutcome) -> np.ndarray:
    """Return the positions of the candidates."""
    rows.check_time()
    position = {name: i for i, name in enumerate(rows.names)}
    names = variables([step.feature for step in outcome.candidates], rows.feature_groups)
    return np.array([position[name] for name in names], dtype=np.int64)
