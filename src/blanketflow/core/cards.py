"""The card of a method, test or model: what it is, accepts and guarantees. Readable without its dependencies."""

from __future__ import annotations

from dataclasses import dataclass

#: The kinds of column that a table can hold.
NUMERIC, INTEGER, BOOLEAN, CATEGORICAL = "numeric", "integer", "boolean", "categorical"
KINDS = (NUMERIC, INTEGER, BOOLEAN, CATEGORICAL)
CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)
#: What a test's p-values are.
EXACT, ASYMPTOTIC, RESAMPLED = "exact", "asymptotic", "resampled"
#: What a test does where cells are missing.
PAIRWISE, IMPUTATIONS = "pairwise", "imputations"
#: What a test needs in place of rows: tables of the target and two features, or sums of products of two columns.
TRIPLES, CROSS_PRODUCTS = "triples", "cross-products"
#: What importance is in most methods of a family.
IMPORTANCES = {
    "causal": "ln(1/p) of the test that admitted it, in nats: 3.0 for p = 0.05, 6.9 for p = 0.001",
    "filter": "the score of its formula when it was ranked, in nats",
}


@dataclass(frozen=True)
class Card:
    """Facts about a method, a CI test, a model or a simulated source.

    Parameters
    ----------
    id : str
        The name used in configs, artefacts and reports, ``[a-z0-9][a-z0-9-]*``.
    name : str
        The name that the literature uses.
    family : str
        ``causal``, ``filter``, ``kernel``, ``wrapper``, ``reference``, ``ci-test``, ``model`` or ``source``.
    summary : str
        One sentence.
    reference : str
        Citation with DOI where there is one.
    kinds : tuple of str
        Kinds of feature columns accepted, out of `KINDS`.
    tasks : tuple of str
        ``classification`` and/or ``regression``.
    guarantee : str
        What is proved, or ``none``; for tests, what is known of their p-values.
    cost : str
        Number of tests (methods) or work per test (tests), in d features and n rows; psi features in a ranking.
    work : str
        For methods: how its work grows, a key of `WORK` in `workflow/cost.py`. Empty: like
        most methods of its family.
    formula : str
        For methods that rank features: the formula that they rank by.
    importance : str
        For methods: what the importance of a feature is, with its unit. Empty: see `means_by_importance`.
    symmetric : bool
        For tests: swapping X and T changes nothing.
    measures : tuple of str
        For tests: what a method may read from the results, out of ``p-value``, ``mutual-information``, ``entropy``
        and ``hsic``.
    p_values : str
        For tests: whether p-values are ``exact``, ``asymptotic`` or ``resampled``.
    misleads : str
        For tests: where its p-values are no error rates, with the rates that were measured. `select`, runs and
        reports say it.
    effect : str
        For tests: the size of an effect that does not grow with the rows, and its unit, which `min_effect` is compared
        with. Empty: the test knows none.
    incomplete : tuple of str
        For tests: what they can do where cells are missing, out of ``pairwise`` (each test on the rows complete for its
        columns) and ``imputations`` (pooled over imputed copies).
    takes_max_rows : bool
        For tests, and methods without one: beyond `max_rows` a sample of the rows is taken, since models or functions
        are fitted, or rows are compared with rows.
    design_based : bool
        For tests: p-values know which rows are of one cluster, and sampling weights, if the table has a `Design`.
    column_sets : bool
        For tests: X may be a set of columns, tested as one joint variable.
    column_by_column : bool
        For tests: the result for a column given nothing depends on that column and the target only, so that columns
        can be tested in separate jobs.
    max_classes : int or None
        For tests whose `kinds` exclude categorical columns: columns of at most this many levels, and targets of at
        most this many classes, are still accepted. None: no exception, and no limit on the target's classes.

    Examples
    --------
    >>> Card("mine", "my method", "filter", "Ranks by what I like.", "unpublished").guarantee
    'none'
    """

    id: str
    name: str
    family: str
    summary: str
    reference: str
    kinds: tuple[str, ...] = KINDS
    tasks: tuple[str, ...] = TASKS
    guarantee: str = "none"
    cost: str = ""
    work: str = ""
    formula: str = ""
    importance: str = ""
    symmetric: bool = False
    measures: tuple[str, ...] = ()
    p_values: str = ""
    misleads: str = ""
    effect: str = ""
    incomplete: tuple[str, ...] = ()
    takes_max_rows: bool = False
    design_based: bool = False
    column_sets: bool = False
    column_by_column: bool = True
    max_classes: int | None = None

    @property
    def means_by_importance(self) -> str:
        """What the importance of a feature is: the card's own words, or what it is in most methods of the family.

        Examples
        --------
        >>> Card("mine", "my method", "filter", "Ranks by what I like.", "unpublished").means_by_importance
        'the score of its formula when it was ranked, in nats'
        """
        return self.importance or IMPORTANCES.get(self.family, "")
