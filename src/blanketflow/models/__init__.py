"""Predictive models for the PPI and CPI tests and the evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..core.cards import COUNT, SURVIVAL
from ..core.errors import ConfigError, shown
from ..core.registry import look_up
from .base import CLASSES, LazyEstimator, Model, SklearnModel, given
from .responses import SurvivalPrior

__all__ = ["DEFAULT_MODELS", "Model", "build_estimator", "build_prior", "get_model"]

#: Models of runs that name none: some for each kind of target.
DEFAULT_MODELS = (
    *("logistic", "ridge", "tree", "svm"),
    *("cox", "poisson", "proportional-odds", "fractional-logit", "gamma"),
)


def get_model(spec: Any) -> Model:
    """Return a configured model.

    Parameters
    ----------
    spec : str, mapping, Model or scikit-learn estimator
        An id such as ``"svm"``; ``"package.module:Class"`` of a scikit-learn estimator; a mapping with the key ``type``
        (one of these) and options, such as ``{"type": "knn", "n_neighbors": 3}``; or a model or estimator.

    Returns
    -------
    Model
        Its `build(task, seed)` returns a scikit-learn estimator.

    Raises
    ------
    UnknownNameError
        If no model has this id.
    ConfigError
        If a class cannot be imported or is not a scikit-learn estimator, or a mapping has no ``type``.
    ParameterError
        If an option is unknown or out of range.

    Examples
    --------
    >>> get_model({"type": "knn", "n_neighbors": 3})
    KNN(n_neighbors=3)
    """
    if isinstance(spec, Model):
        return spec
    if isinstance(spec, Mapping):
        name, options = spec.get("type"), {key: value for key, value in spec.items() if key != "type"}
        if not isinstance(name, str):
            raise ConfigError(f"model {dict(spec)!r} has no type. Write it as {{type: svm, C: 10}}.")
    elif isinstance(spec, str):
        name, options = spec, {}
    elif spec is None or isinstance(spec, bool | int | float | list | tuple):
        raise ConfigError(f"a model is an id such as tree, or {{type: tree, option: ...}}, but not {shown(spec)}.")
    else:
        return SklearnModel.of_instance(spec)
    found = look_up("blanketflow.models", name, "model")
    if isinstance(found, type) and issubclass(found, Model):
        return found.from_options(f"model {name!r}", options)
    return SklearnModel.of_class(name, found, options)


def build_prior(task: str) -> Any:
    """Return the unfitted estimator that needs no features: class shares, mean, rate or Kaplan-Meier curve."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if task == SURVIVAL:
        return SurvivalPrior()
    if task in CLASSES:
        return DummyClassifier(strategy="prior")
    return LazyEstimator(partial(given, DummyRegressor()), task) if task == COUNT else DummyRegressor()


def build_estimator(spec: Any, task: str, seed: int, n_jobs: int = 1) -> Any:
    """Return the unfitted scikit-learn estimator of a model; see `get_model` and `Model.build`."""
    return get_model(spec).build(task, seed, n_jobs)
