"""Scikit-learn selectors as methods of the workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.cards import Card
from ..core.errors import BlanketflowError, ParameterError, UnsupportedError, WrongAnswerError, shown
from ..core.printable import printable
from ..core.registry import import_name
from ..moves.steps import Step
from .base import Method, Problem

#: `Wrapped` as a configuration names it.
WRAPPED = f"{__name__}:Wrapped"
#: Message for other objects.
NO_SELECTOR = "has no fit or no get_support: name a scikit-learn selector, or a subclass of Method."


class External(Method):
    """A scikit-learn selector ``"package.module:Class"``, fitted on the rows of each fold.

    Features come from `get_support`, importances from `feature_importances_`, `scores_` or `ranking_` if present.
    Categorical columns are passed as level codes.
    """

    default_test = None
    wraps_others = True

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self.path = path
        self._options = dict(options)
        self.card = Card(
            id=path,
            name=path,
            family="external",
            summary="A selector named in the config.",
            reference="its own",
            importance="what the selector says of it: feature_importances_, scores_, or minus ranking_",
        )

    def options(self) -> dict[str, Any]:
        """Return the options of the class."""
        return dict(self._options)

    def check(self, where: str | None = None) -> None:
        """Raise an error unless the class accepts the options and is a selector."""
        named = type(self._options["selector"]) if isinstance(self, Wrapped) else import_name(self.path)
        if not hasattr(named, "fit"):  # before anything is called: a name could stand for any function
            raise UnsupportedError(f"{self.path} {NO_SELECTOR}")
        try:
            selector = self.build()
        except BlanketflowError:
            raise
        except Exception as error:  # whatever the class does with its options
            why = printable(f"{type(error).__name__}: {error}")
            raise ParameterError(f"{self.path} cannot be made with options {shown(self._options)} ({why}).") from error
        if not hasattr(selector, "get_support"):
            raise UnsupportedError(f"{self.path} {NO_SELECTOR}")

    def build(self) -> Any:
        """Return the unfitted selector."""
        return import_name(self.path)(**self._options)

    def grow(self, problem: Problem) -> list[Step]:
        """Fit the selector and admit its features, most important first."""
        selector = self.build()
        if not hasattr(selector, "get_support"):
            raise UnsupportedError(f"{self.path} {NO_SELECTOR}")
        target = problem.table[problem.target]
        y = np.array(target.levels)[target.values] if target.levels else target.numbers()
        selector.fit(problem.table.matrix(problem.features), y)
        importance = self._importance(selector, len(problem.features))
        chosen = np.flatnonzero(self._support(selector, len(problem.features)))
        ordered = chosen[np.argsort(-importance[chosen], kind="stable")]
        return [Step(problem.features[i], importance=float(importance[i])) for i in ordered]

    @staticmethod
    def _support(selector: Any, n_features: int) -> np.ndarray:
        said = selector.get_support()
        mask = np.asarray(said)
        if mask.shape != (n_features,) or mask.dtype != bool:
            found = f"an array of shape {mask.shape} of {mask.dtype}" if mask.ndim else shown(said)
            raise WrongAnswerError(f"get_support returned {found}, but must return {n_features} true or false")
        return mask

    @staticmethod
    def _importance(selector: Any, n_features: int) -> np.ndarray:
        for name, sign in (("feature_importances_", 1.0), ("scores_", 1.0), ("ranking_", -1.0)):
            values = np.asarray(getattr(selector, name, ()), dtype=np.float64)
            if values.shape == (n_features,):
                # Scores may be: scikit-learn's are nan for a constant feature and infinite for a perfect one.
                if name != "scores_" and not np.isfinite(values).all():
                    raise WrongAnswerError(
                        f"{name} holds {values[~np.isfinite(values)][0]}, which is not a finite number"
                    )
                return np.nan_to_num(sign * values)
        return np.zeros(n_features)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Sequence[Step]:
        """Remove nothing."""
        return candidates


class Wrapped(External):
    """A scikit-learn selector object, for `blanketflow.compare`; each fold fits a clone. Workflows cannot name it."""

    def __init__(self, selector: Any) -> None:
        super().__init__(f"{type(selector).__module__}:{type(selector).__qualname__}", {"selector": selector})

    @classmethod
    def from_options(cls, where: str, options: Mapping[str, Any]) -> Wrapped:
        """Build an instance from the option `selector`."""
        selector = options["selector"]
        if not hasattr(selector, "get_support") or not hasattr(selector, "get_params"):
            raise ParameterError(
                f"{where}: {selector!r} is not a scikit-learn selector: it needs get_support and clone."
            )
        return cls(selector)

    def build(self) -> Any:
        """Return an unfitted clone."""
        from sklearn.base import clone

        return clone(self._options["selector"])
