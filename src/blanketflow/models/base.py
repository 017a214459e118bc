"""Base class of models, wrappers of scikit-learn estimators, and checks of predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import (
    CLASSIFICATION,
    COUNT,
    ORDERED,
    POSITIVE,
    REGRESSION,
    SHARE,
    SURVIVAL,
    TASKS,
    Card,
)
from ..core.errors import ConfigError, ParameterError, UnsupportedError, WrongAnswerError, shown
from ..core.isolation import reason_of
from ..core.parameters import Configurable
from .responses import counts_of, exposure_of, fitted
from .survival_scores import concordance

#: Tasks whose models predict classes, and tasks whose models predict means.
CLASSES = (CLASSIFICATION, ORDERED)
MEANS = (REGRESSION, COUNT, SHARE, POSITIVE)


@dataclass
class Model(Configurable):
    """A configured model. A subclass adds a `card`, declared options and `assemble`.

    Examples
    --------
    >>> from blanketflow.models import get_model
    >>> model = get_model({"type": "knn", "n_neighbors": 3})
    >>> model.card.tasks, model.options()
    (('classification', 'regression'), {'n_neighbors': 3})
    """

    def build(self, task: str, seed: int, n_jobs: int = 1) -> Any:
        """Return an unfitted scikit-learn estimator for a float matrix, with `predict_proba` if the method allows it.

        `seed` is below 2**32. `n_jobs` does not change the result. `responses.response` says what `y` is for each
        task. `predict` returns class codes, means (for counts with exposure: rates) or, for survival, risk scores:
        the higher, the earlier the event. Raises `UnsupportedError` if the card does not list the task.
        """
        if task not in self.card.tasks:
            raise UnsupportedError(
                f"model {self.card.id!r} does not do {task}, only {' and '.join(self.card.tasks)}. Choose another."
            )
        estimator = self.assemble(task, seed, n_jobs)
        if task == COUNT and not isinstance(estimator, LazyEstimator):
            return LazyEstimator(partial(given, estimator), task)
        return estimator

    def certify(self, estimator: Any) -> Any:
        """Return the estimator with the settings that `used_columns` needs, if any."""
        return estimator

    def used_columns(self, fitted: Any) -> np.ndarray | None:
        """Return the columns on which a fitted estimator depends, shape (k,), ascending; None if unknown.

        Refitting with the same rows and seed without any other columns must give identical predictions. Most estimators
        draw columns at random or use all of them, and return None.
        """
        return None

    def predict_by_sets(
        self,
        task: str,
        seed: int,
        train: tuple[np.ndarray, np.ndarray],
        X: np.ndarray,
        sets: Sequence[Sequence[int]],
        check_time: Callable[[], None],
    ) -> Iterator[np.ndarray]:
        """Yield predictions for rows X, (m, d), by a model of each set of columns.

        `train` is the matrix, (n, d), and the target, (n,). `check_time` is called before each model or block of rows,
        and raises an error if the time is over.
        """
        for columns in sets:
            check_time()
            rows, asked = (np.ascontiguousarray(matrix[:, columns]) for matrix in (train[0], X))
            yield self.build(task, seed).fit(rows, train[1]).predict(asked)

    @abstractmethod
    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the unfitted estimator of a task that the card lists.

        Parameters
        ----------
        task : str
            The task, such as ``classification``.
        seed : int
            Seed of random numbers, below 2**32.
        n_jobs : int
            Number of threads or processes.

        Returns
        -------
        estimator
            With `fit` and `predict` as in scikit-learn, and `predict_proba` for metrics of probabilities. For survival,
            with ``predict_survival(X, times)``, (n, len(times)), for metrics of survival probabilities.
        """


@dataclass
class SklearnModel(Model):
    """A scikit-learn estimator from another package. Columns are not scaled: put a scaler in its pipeline.

    `build` sets ``random_state`` and ``n_jobs`` of the unfitted `template` if they are None. `name` is used in results.
    """

    template: Any
    name: str
    wraps_others: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not all(hasattr(self.template, method) for method in ("fit", "predict", "get_params", "__sklearn_tags__")):
            raise ConfigError(
                f"model {self.name!r} is not a scikit-learn estimator: it needs fit, predict, get_params and tags. "
                "Derive it from sklearn.base.BaseEstimator, or choose a model of blanketflow such as tree."
            )
        self.card = Card(self.name, self.name, "model", "An estimator from another package.", "", tasks=self._tasks())

    @classmethod
    def of_class(cls, name: str, estimator: Any, options: Mapping[str, Any]) -> SklearnModel:
        """Create the class ``"package.module:Class"`` with `options`, and wrap it."""
        try:
            template = estimator(**options)
        except TypeError as error:
            raise ParameterError(f"model {name!r} cannot be made with options {dict(options)!r}: {error}.") from error
        return cls(template, name)

    @classmethod
    def of_instance(cls, estimator: Any) -> SklearnModel:
        """Wrap an estimator object."""
        return cls(estimator, f"{type(estimator).__module__}:{type(estimator).__name__}")

    def options(self) -> dict[str, Any]:
        """Return the estimator's parameters."""
        return self.template.get_params(deep=False)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return a copy of the estimator, with nested estimators seeded too."""
        from sklearn.base import clone

        estimator = clone(self.template)
        ours = {"random_state": seed, **({"n_jobs": n_jobs} if n_jobs != 1 else {})}  # None is one job already
        unset = [key for key, value in sorted(estimator.get_params().items()) if value is None]
        given = {key: ours[key.rpartition("__")[2]] for key in unset if key.rpartition("__")[2] in ours}
        return estimator.set_params(**given) if given else estimator

    def _tasks(self) -> tuple[str, ...]:
        from sklearn.base import is_classifier, is_regressor

        if _is_of_survival(self.template):
            return (SURVIVAL,)
        tasks = ((CLASSES, is_classifier), (MEANS, is_regressor))
        return next((found for found, does in tasks if does(self.template)), TASKS)


def given(estimator: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the estimator, whatever the rows."""
    return estimator


def _is_of_survival(template: Any) -> bool:
    """Return whether an estimator, or the last step of a pipeline, is one of scikit-survival or has its interface."""
    last = getattr(template, "steps", [(None, template)])[-1][1]
    of_package = any(base.__name__ == "SurvivalAnalysisMixin" for base in type(last).__mro__)
    return of_package or hasattr(last, "predict_survival_function")


#: Tolerance for the sum of a row's probabilities; some models work in single precision.
TOLERANCE = 1e-3


def predicted(estimator: Any, X: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the prediction of each row of X, (n,).

    `classes` are the training classes; None for regression. Raises `WrongAnswerError` unless all predictions are finite
    numbers, or among these classes.
    """
    found = _numbers(estimator.predict(X), "predictions")
    if found.shape not in ((len(X),), (len(X), 1)):
        raise WrongAnswerError(f"the model returned predictions of shape {found.shape} for {len(X)} rows")
    found = found.reshape(-1)
    if classes is not None:
        unknown = found[~np.isin(found, classes)]
        if len(unknown):
            raise WrongAnswerError(f"the model predicted the class {shown(unknown[0].item())}, which it was not taught")
    return found


def probabilities(estimator: Any, X: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return class probabilities of rows X, (n, k), and the classes; raises `WrongAnswerError` if they are invalid."""
    said = np.asarray(estimator.classes_)
    if not np.isin(said, classes).all() or len(np.unique(said)) < len(said):
        raise WrongAnswerError(f"the model says that its classes are {shown(said.tolist())}, which it was not taught")
    found = _numbers(estimator.predict_proba(X), "probabilities")
    if found.shape != (len(X), len(said)):
        raise WrongAnswerError(
            f"the model returned probabilities of shape {found.shape} for {len(X)} rows and {len(said)} classes"
        )
    if (found < -TOLERANCE).any() or (np.abs(found.sum(axis=1) - 1) > TOLERANCE).any():
        raise WrongAnswerError("the model returned probabilities that are negative or whose sum is not 1")
    return found, said


def class_probabilities(estimator: Any, X: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the probabilities of some classes, ascending, for each row of X, (n, r); 0 for unknown classes."""
    found, said = probabilities(estimator, X, classes)
    whole = np.zeros((len(X), len(classes)))
    whole[:, np.searchsorted(classes, said)] = found
    return whole


def risk_scores(estimator: Any, X: np.ndarray) -> np.ndarray:
    """Return the risk of each row of X, (n,): the higher, the earlier the event.

    Some estimators of scikit-survival predict times, which they say.
    """
    found = predicted(estimator, X).astype(float)
    return -found if getattr(estimator, "_predict_risk_score", True) is False else found


def survival_probabilities(estimator: Any, X: np.ndarray, times: np.ndarray) -> np.ndarray | str:
    """Return the probability of no event up to each time for rows X, (n, len(times)), or why a model gives none."""
    if hasattr(estimator, "predict_survival"):
        found = _numbers(estimator.predict_survival(X, times), "survival probabilities")
    elif hasattr(estimator, "predict_survival_function"):
        try:
            curves = list(estimator.predict_survival_function(X))  # step functions of scikit-survival, with a domain
        except Exception as error:  # it may still give risks: curves need an option of some estimators
            return f"the model gives no survival probabilities ({reason_of(error)})"
        rows = [curve(np.clip(times, *curve.domain)) for curve in curves]
        found = _numbers(rows, "survival probabilities")
    else:
        return "the model gives no survival probabilities"
    if found.shape != (len(X), len(times)):
        raise WrongAnswerError(
            f"the model returned survival probabilities of shape {found.shape} for {len(X)} rows and {len(times)} times"
        )
    if (found < -TOLERANCE).any() or (found > 1 + TOLERANCE).any() or (np.diff(found, axis=1) > TOLERANCE).any():
        raise WrongAnswerError("the model returned survival probabilities that are outside 0 to 1 or that rise")
    return found


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError as error:
        raise WrongAnswerError(f"the model returned {what} that are not an array ({error})") from error
    if found.dtype.kind not in "biuf":
        raise WrongAnswerError(f"the model returned {what} of type {found.dtype}, which are not numbers")
    if not np.isfinite(found).all():
        raise WrongAnswerError(f"the model returned {what} that are not finite")
    return found


class LazyEstimator:
    """A scikit-learn estimator built by ``make(X, y)`` at `fit`; reading cards must not import scikit-learn."""

    def __init__(self, make: Callable[[np.ndarray, np.ndarray], Any], task: str) -> None:
        self.make = make
        self.task = task

    def fit(self, X: np.ndarray, y: np.ndarray) -> LazyEstimator:
        """Build and fit the estimator."""
        X, y = np.asarray(X), np.asarray(y)
        self.estimator_ = fitted(self.make(X, y), X, y)
        if self.task in CLASSES:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted class, number or risk of each row."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities, with columns in the order of `classes_`."""
        return self.estimator_.predict_proba(X)

    def predict_survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the probability of no event up to each of some times, (n, len(times))."""
        return self.estimator_.predict_survival(X, times)

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy or R2 of the predictions, as in scikit-learn, or Harrell's concordance."""
        from sklearn.metrics import accuracy_score, r2_score

        found = self.predict(X)
        if self.task == SURVIVAL:
            return concordance(np.asarray(y), found)
        if self.task in CLASSES:
            return float(accuracy_score(y, found))
        return float(r2_score(counts_of(np.asarray(y)), found * exposure_of(np.asarray(y))))

    # Needed by scikit-learn's clone, scorers and cross-validation.
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return {"make": self.make, "task": self.task}

    def set_params(self, **params: Any) -> LazyEstimator:
        """Set the constructor's parameters."""
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        is_classifier, is_regressor = self.task in CLASSES, self.task in MEANS
        return Tags(
            estimator_type="classifier" if is_classifier else "regressor" if is_regressor else None,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if is_classifier else None,
            regressor_tags=RegressorTags() if is_regressor else None,
        )
