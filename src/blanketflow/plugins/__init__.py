"""What methods, CI tests, models, kinds of targets and readers of files outside this package derive from and call.

These names and their meaning are stable from here on. A change that would break a plug-in written with them is
announced by a warning in the version before it, and stands in the changelog. Everything else in the package may move.
`docs/extending.md` shows a plug-in of each kind.
"""

from __future__ import annotations

from ..ci import get_ci_test
from ..ci.base import BoundTest, CITest, constant_results
from ..ci.engines import Chance, Engine, SetEngine
from ..core.cards import (
    ASYMPTOTIC,
    BOOLEAN,
    CATEGORICAL,
    CLASSIFICATION,
    EXACT,
    INTEGER,
    KINDS,
    NUMERIC,
    REGRESSION,
    RESAMPLED,
    TASKS,
    Card,
)
from ..core.column import TargetColumn
from ..core.errors import (
    BlanketflowError,
    ConfigError,
    DataError,
    ParameterError,
    UnknownNameError,
    UnsupportedError,
    WrongAnswerError,
)
from ..core.formats import Format
from ..core.limits import LimitReached
from ..core.parameters import anything, choice, feature_counts, integer, number
from ..core.registry import FurtherTable, RunResults
from ..core.results import CIResult, CIResults
from ..core.seeds import derive_rng, derive_seed
from ..core.table import Column, Design, Table
from ..models import get_model
from ..models.base import Model
from ..moves.backward import remove_in_one_pass, remove_until_stable
from ..moves.forward import scan_until_stable
from ..moves.steps import (
    CHILD,
    INCLUDED,
    MEMBER,
    PARENT,
    PARENT_OR_CHILD,
    SPOUSE,
    Answer,
    Step,
    is_dependent,
    is_independent,
    step,
    strongest_first,
)
from ..selectors.base import Method, Problem
from ..targets import NullModel, TargetKind

__all__ = [
    "ASYMPTOTIC",
    "BOOLEAN",
    "CATEGORICAL",
    "CHILD",
    "CLASSIFICATION",
    "EXACT",
    "INCLUDED",
    "INTEGER",
    "KINDS",
    "MEMBER",
    "NUMERIC",
    "PARENT",
    "PARENT_OR_CHILD",
    "REGRESSION",
    "RESAMPLED",
    "SPOUSE",
    "TASKS",
    "Answer",
    "BlanketflowError",
    "BoundTest",
    "CIResult",
    "CIResults",
    "CITest",
    "Card",
    "Chance",
    "Column",
    "ConfigError",
    "DataError",
    "Design",
    "Engine",
    "Format",
    "FurtherTable",
    "LimitReached",
    "Method",
    "Model",
    "NullModel",
    "ParameterError",
    "Problem",
    "RunResults",
    "SetEngine",
    "Step",
    "Table",
    "TargetColumn",
    "TargetKind",
    "UnknownNameError",
    "UnsupportedError",
    "WrongAnswerError",
    "anything",
    "choice",
    "constant_results",
    "derive_rng",
    "derive_seed",
    "feature_counts",
    "get_ci_test",
    "get_model",
    "integer",
    "is_dependent",
    "is_independent",
    "number",
    "remove_in_one_pass",
    "remove_until_stable",
    "scan_until_stable",
    "step",
    "strongest_first",
]
