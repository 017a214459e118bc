"""Any scikit-learn estimator as a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.cards import CLASSIFICATION, REGRESSION, TASKS, Card
from ..core.errors import ConfigError, ParameterError
from .base import Model


@dataclass
class SklearnModel(Model):
    """A scikit-learn estimator from another package. Columns are not scaled for it: put a scaler in its pipeline.

    If the ``random_state`` or ``n_jobs`` of the unfitted `template` is None, `build` sets it. `name` is its name in
    results.
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
        """Wrap the class named by ``"package.module:Class"``, constructed with `options`."""
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
        """Return the estimator's own parameters."""
        return self.template.get_params(deep=False)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return a copy of the estimator in which nested estimators are seeded too."""
        from sklearn.base import clone

        estimator = clone(self.template)
        ours = {"random_state": seed, **({"n_jobs": n_jobs} if n_jobs != 1 else {})}  # None is one job already
        unset = [key for key, value in sorted(estimator.get_params().items()) if value is None]
        given = {key: ours[key.rpartition("__")[2]] for key in unset if key.rpartition("__")[2] in ours}
        return estimator.set_params(**given) if given else estimator

    def _tasks(self) -> tuple[str, ...]:
        from sklearn.base import is_classifier, is_regressor

        tasks = ((CLASSIFICATION, is_classifier), (REGRESSION, is_regressor))
        return tuple(task for task, does in tasks if does(self.template)) or TASKS
