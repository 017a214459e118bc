"""The option `covariance` of methods that take features as Gaussian, and how it is written down."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.parameters import anything

#: Estimates for wide tables, in place of a matrix.
BANDED, FACTOR = "banded", "factor"


def covariance_option(more: str = "") -> Any:
    """Declare the covariance of the features; `more` says what else it can be."""
    return anything(
        None,
        "Covariance of the features: rows and columns in table order, or {name: {name: number}}; null: estimated, "
        f"shrunken as Ledoit and Wolf have it{more}.",
    )


class TakesCovariance:
    """A method with the field `covariance`, which it declares by `covariance_option`."""

    covariance: Any

    def follows_order(self) -> bool:
        """Whether the order of the table's columns means something: it does where a matrix has no names."""
        if self.covariance is None or isinstance(self.covariance, str):
            return self.covariance == BANDED
        return not hasattr(self.covariance, "keys")

    def options(self) -> dict[str, Any]:
        """Return the value of every parameter, the covariance as plain lists or mappings."""
        known = self.covariance
        if hasattr(known, "to_dict"):
            known = known.to_dict()
        written = known.tolist() if isinstance(known, np.ndarray) else known
        return {**super().options(), "covariance": written}  # type: ignore[misc]
