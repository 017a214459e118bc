"""The data sets that come with scikit-learn, and facts about them that need no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..core.cards import CLASSIFICATION, REGRESSION
from ..core.errors import ConfigError, did_you_mean
from ..core.table import Column, categorical, column_from_array

TARGET = "target"


@dataclass(frozen=True)
class Bundled:
    """Facts of a bundled set with ``task: auto``; all features are numeric and complete."""

    n_rows: int
    feature_names: tuple[str, ...]
    task: str
    task_reason: str
    class_counts: dict[str, int] | None = None
    #: What `has_flags` and `bends_seen` of `core.column_checks` say of it.
    has_flags: bool = False
    bends: str = ""


_NUCLEUS = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip

BUNDLED = MappingProxyType(
    {
        "breast_cancer": Bundled(
            569,
            (
                *(f"mean {part}" for part in _NUCLEUS),
                *(f"{part} error" for part in _NUCLEUS),
                *(f"worst {part}" for part in _NUCLEUS),
            ),
            CLASSIFICATION,
            "target 'target' is categorical",
            {"benign": 357, "malignant": 212},
            bends="radius error with mean radius, radius error with worst perimeter and 22 more of 200 pairs",
        ),
        "diabetes": Bundled(
            442,
            ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"),
            REGRESSION,
            "target 'target' is numeric with 214 distinct values",
            bends="bmi with age",
        ),
        "digits": Bundled(
            1797,
            tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
            CLASSIFICATION,
            "target 'target' has 10 distinct whole numbers",
            dict(zip("0123456789", (178, 182, 177, 183, 181, 182, 181, 179, 174, 180), strict=True)),
            has_flags=True,
            bends="pixel_7_5 with pixel_7_6, pixel_7_3 with pixel_0_3 and 63 more of 200 pairs",
        ),
        "wine": Bundled(
            178,
            (
                "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
                "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines",
                "proline",
            ),
            CLASSIFICATION,
            "target 'target' is categorical",
            {"class_0": 59, "class_1": 71, "class_2": 48},
            bends="flavanoids with color_intensity, od280/od315_of_diluted_wines with hue and 9 more of 78 pairs",
        ),
    }
)  # fmt: skip


def bundled_facts(name: str, identifier: str) -> Bundled:
    """Return the facts of a bundled data set, or raise `ConfigError`."""
    if identifier not in BUNDLED:
        raise ConfigError(f"{name}: source 'sklearn:{identifier}' is unknown. {did_you_mean(identifier, BUNDLED)}")
    return BUNDLED[identifier]


def read_bundled(name: str, identifier: str) -> list[Column]:
    """Return the columns of a bundled set, the target last; raises as `bundled_facts` does."""
    bundled_facts(name, identifier)
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{identifier}")()
    X = np.asfortranarray(bunch.data)
    columns = [column_from_array(str(feature), X[:, j]) for j, feature in enumerate(bunch.feature_names)]
    classes = np.asarray(bunch.get("target_names", ()))
    if classes.dtype.kind == "U":
        return [*columns, categorical(TARGET, classes[bunch.target].astype(object))]
    return [*columns, column_from_array(TARGET, bunch.target)]
