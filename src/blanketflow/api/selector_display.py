"""What a selector shows of itself, beside what scikit-learn shows of every estimator: its blanket, and a chart."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class SelectorDisplay:
    """The part of a selector that draws it."""

    def plot(self, paths: bool = False) -> Any:
        """Draw the importance of each selected feature as a bar in the colour of its role.

        Parameters
        ----------
        paths : bool, default=False
            Draw stability paths instead, which `StabilitySelection` has: on what share of the halves each feature was
            among the first so many.

        Returns
        -------
        altair.Chart
            A chart, which a notebook shows and ``chart.save("blanket.svg")`` writes.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        ParameterError
            If `paths` is asked of another method.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> bf.MRMR(n_features=2).fit(X, y).plot().to_dict()["mark"]
        {'type': 'bar'}
        """
        import pandas as pd

        from ..core.errors import ParameterError
        from ..reporting.plots import blanket_bars, stability_paths
        from .shown import FEATURE_COLUMNS, features_of

        check_is_fitted(self, "selected_features_")
        if paths:
            if not self.verdict_.get("paths"):
                raise ParameterError(f"{type(self).__name__}: only StabilitySelection has paths. Leave paths out.")
            return stability_paths(self.verdict_["paths"])
        return blanket_bars(pd.DataFrame(features_of(self), columns=FEATURE_COLUMNS))

    # scikit-learn's diagram, and below it, once fitted, what was found; with set_config(display="text") neither.
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._found_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": bundle["text/html"] + self._found_html()} if "text/html" in bundle else bundle

    def _found_html(self) -> str:
        from .shown import selector_html

        return selector_html(self) if hasattr(self, "selected_features_") else ""
