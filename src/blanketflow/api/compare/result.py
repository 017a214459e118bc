"""The result of a comparison: tables as frames, charts as objects, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...core.printable import printable
from ...data.artefacts import write_text
from ...data.findings import in_lines
from .summary import blanket_of, dataset_of, score_text, summary_rows

if TYPE_CHECKING:
    from ...reporting.report import Run
    from .charts import Charts


class _Table(property):
    """A result table as a documented attribute."""

    def __init__(self, doc: str) -> None:
        super().__init__(lambda found: found._named(found.run.tables[self._name]))
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    if TYPE_CHECKING:

        def __get__(self, found: Any, owner: type | None = None) -> pd.DataFrame: ...


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `blanketflow.compare`, shown in a notebook as a table of scores.

    Result tables are attributes; charts are methods of ``plot``, a `blanketflow.api.compare.charts.Charts`.

    Attributes
    ----------
    run : blanketflow.reporting.report.Run
        The content of the report.
    own_names : dict of str to dict
        Column names that are not text, such as integers, by their text. Tables and `blanket` have names, charts texts.
    tables : dict of str to DataFrame
        Every result table by name; the attributes answers, scores, blankets, unions, stability, agreement, ranks, wins,
        observed, drift, friedman, runtime, truth and statuses are these.
    folds, outcomes, skipped : DataFrame
        Cost of each fold; results that are not ``ok``; and unsuitable pairs with the reason.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = bf.compare(X, y, {"gs": bf.GS(alpha=0.001)}, models=["tree"], evaluation=0, folds=0)
    >>> found.tables.keys() >= {"scores", "blankets", "stability"}
    True
    """

    run: Run
    own_names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    scores = _Table(
        "Mean and standard deviation of each metric over the evaluation splits, and the difference to all features."
    )
    answers = _Table("Which features to keep on each data set, in words, and whether models learned anything.")
    blankets = _Table("The features of each final blanket, most important first.")
    confirmed = _Table(
        "The members of final blankets, tested on rows that the search left out; empty without ``confirm``."
    )
    discoveries = _Table(
        "The smallest false discovery rate at which each feature is a discovery; empty for methods without levels."
    )
    stability = _Table("How much the sets of a selector vary over the splits: Nogueira's index with its interval.")
    agreement = _Table("What the final blankets of two selectors have in common.")
    ranks = _Table("Mean rank of each selector over the data sets.")
    wins = _Table("On how many data sets one selector beats another.")
    optimism = _Table("How much scores gain if selection has seen the test rows; empty without ``optimistic=True``.")
    held_out_groups = _Table(
        'How well each set does at a group that it has not seen; empty without ``evaluation="leave-group-out"``.'
    )
    unions = _Table(
        "Features of the final blankets of several targets, and of which targets each is; empty with one target."
    )
    observed = _Table(
        "What was observed on unseen rows in parts of equal predictions, such as survival curves; empty for classes "
        "and plain numbers."
    )
    drift = _Table(
        "How the selected features change over the periods of time: distribution (PSI), sign and rank; empty without "
        '``evaluation="forward"``.'
    )
    friedman = _Table("Whether the ranks of the selectors differ over the data sets.")
    runtime = _Table("Number of tests and seconds of each selector.")
    truth = _Table("Precision, recall and F1 against the true blanket, if it is known.")
    statuses = _Table("How every search and every model ended, with the reason if it is not ``ok``.")

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every result table by name."""
        return {name: self._named(table) for name, table in self.run.tables.items()}

    @property
    def plot(self) -> Charts:
        """The charts: ``plot.score_by_selector()``, ``plot.blanket_graph("gs")`` and others return Altair charts."""
        from .charts import Charts

        return Charts(self.run)

    @property
    def folds(self) -> pd.DataFrame:
        """One row per data set, selector, split and fold: size, z, chosen, n_tests, seconds."""
        return self.run.folds

    @property
    def outcomes(self) -> pd.DataFrame:
        """Results that are not ``ok``: dataset, selector, split, stage, status, reason."""
        return self.run.outcomes

    @property
    def skipped(self) -> pd.DataFrame:
        """Unsuitable pairs: dataset, selector, reason."""
        return self.run.skipped

    def blanket(self, selector: str, dataset: str | None = None) -> list[Any]:
        """Return the features of a selector's final blanket, most important first.

        Parameters
        ----------
        selector : str
            Its id.
        dataset : str, optional
            Its id; needed if there are several.

        Returns
        -------
        list of str
            Column names; integers if the frame has integer names.

        Raises
        ------
        ConfigError
            If the selector or data set is unknown, or has no final blanket; the message says why.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = bf.compare(X, y, {"gs": bf.GS(alpha=0.001)}, models=["tree"], evaluation=0, folds=0)
        >>> "flavanoids" in found.blanket("gs")
        True
        """
        name = dataset_of(self.run, dataset)
        own = self.own_names.get(name, {})
        return [own.get(feature, feature) for feature in blanket_of(self.run, selector, name)["feature"]]

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a result table with the feature names of the caller's frame."""
        if not self.own_names or "feature" not in table:
            return table
        pairs = zip(table["dataset"], table["feature"], strict=True)
        return table.assign(feature=[self.own_names.get(name, {}).get(text, text) for name, text in pairs])

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML page that opens offline.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing one is replaced.

        Returns
        -------
        Path
            The path of the file.

        Examples
        --------
        >>> import tempfile
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = bf.compare(X, y, {"gs": bf.GS(alpha=0.001)}, models=["tree"], evaluation=0, folds=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.report(f"{folder}/wine.html").stat().st_size > 900_000  # what draws the charts is in it
        True
        """
        from ...reporting.report import render

        write_text(path, render(self.run))
        return Path(path)

    # --- display in a notebook ---------------------------------------------------------------------------------------

    def summary(self) -> pd.DataFrame:
        """Return one row per data set and selector: size of the final blanket, and the score of each model.

        Scores are mean ± standard deviation over the evaluation splits, of the data set's leading metric.

        Returns
        -------
        DataFrame
            Indexed by data set and selector; all cells are text, except for the sizes.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = bf.compare(X, y, {"gs": bf.GS(alpha=0.001)}, models=["tree"], evaluation=2, folds=0)
        >>> found.summary().index.tolist(), found.summary().columns.tolist()
        ([('table', 'gs'), ('table', 'all'), ('table', 'none')], ['features', 'tree, accuracy'])
        """
        shown = [
            {key: score_text(*cell) if isinstance(cell, tuple) else cell for key, cell in row.items()}
            for row in summary_rows(self.run)
        ]
        return pd.DataFrame(shown).fillna("").set_index(["dataset", "selector"])

    def __repr__(self) -> str:
        return f"{self.summary().to_string()}{''.join(f'{chr(10)}{line}' for line in self.notes())}"

    def _repr_html_(self) -> str:
        from ..notebook import comparison_html

        return comparison_html(self)

    def notes(self) -> list[str]:
        """Return notes on skipped pairs and on results that are not ``ok``: one line per pair and status.

        The first lines name texts read as missing cells, and columns to check, such as one that determines the target.

        Returns
        -------
        list of str
            The lines that a notebook shows below the summary.

        Examples
        --------
        >>> import blanketflow as bf
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> leaking = X.assign(label=y + 1)
        >>> bf.compare(leaking, y, ["mrmr"], models=["tree"], evaluation=0, folds=0).notes()[0].rpartition(", ")[2]
        'set drop: [label]. blanketflow inspect says why'
        """
        read = ((name, one) for name, card in self.run.cards.items() for one in card["findings"])
        lines = [f"{name}: {one['message']}. {one['advice']}" for name, one in read if one["kind"] == "reading"]
        told = {name: card["missing"].get("markers") for name, card in self.run.cards.items()}
        lines += [f"{name}: {markers}" for name, markers in told.items() if markers]
        lines += [f"{name}: {line}" for name, card in self.run.cards.items() for line in in_lines(card["findings"])]
        lines += [f"{name}: {note}" for name, own in self.run.unselective.items() for note in own]
        lines += [f"{s.dataset}, {s.selector}: skipped, {s.reason}" for s in self.skipped.itertuples()]
        # A search without a blanket is reported once, not again for its evaluation.
        unselected = {(o.dataset, o.selector) for o in self.outcomes.itertuples() if o.stage == "select"}
        by: dict[tuple[str, str, str], list[Any]] = {}
        for one in self.outcomes.itertuples():
            if one.stage == "select" or (one.dataset, one.selector) not in unselected:
                by.setdefault((one.dataset, one.selector, one.status), []).append(one)
        for (dataset, selector, status), several in by.items():
            n_splits = len({one.split for one in several})
            on = f" on {n_splits} splits" if n_splits > 1 else ""
            lines.append(f"{dataset}, {selector}: {status}{on}, {several[0].reason}")
        return list(map(printable, lines))
