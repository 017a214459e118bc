"""Cards of methods, tests and models: what they are, accept and guarantee. Readable without their dependencies."""

from __future__ import annotations

from dataclasses import dataclass

#: Kinds of columns.
NUMERIC, INTEGER, BOOLEAN, CATEGORICAL = "numeric", "integer", "boolean", "categorical"
KINDS = (NUMERIC, INTEGER, BOOLEAN, CATEGORICAL)
CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)
#: Further kinds of targets, which are only used if asked for: `targets/` has their checks, models and losses.
SURVIVAL, COUNT, ORDERED, SHARE, POSITIVE = "survival", "count", "ordered", "share", "positive"
FURTHER_KINDS = (SURVIVAL, COUNT, ORDERED, SHARE, POSITIVE)
TARGET_KINDS = (*TASKS, *FURTHER_KINDS)


def is_further_kind(task: str) -> bool:
    """Return whether a task is a further kind of target, of this package or, as ``"module:Class"``, of another.

    >>> is_further_kind("survival"), is_further_kind("my_kinds:Successes"), is_further_kind("regression")
    (True, True, False)
    """
    return task in FURTHER_KINDS or ":" in task


def scored_as(task: str) -> str:
    """Return the task of models that are scored on a target: those of other packages are read as numbers.

    >>> scored_as("survival"), scored_as("my_kinds:Successes")
    ('survival', 'regression')
    """
    return REGRESSION if ":" in task else task


#: Kinds of p-values.
EXACT, ASYMPTOTIC, RESAMPLED = "exact", "asymptotic", "resampled"
#: Ways to handle missing cells.
PAIRWISE, IMPUTATIONS = "pairwise", "imputations"
#: Statistics that replace rows: tables of the target and two features, or sums of products of two columns.
TRIPLES, CROSS_PRODUCTS = "triples", "cross-products"
#: Default meaning of importance by family.
IMPORTANCES = {
    "causal": "ln(1/p) of the test that admitted it, in nats: 3.0 for p = 0.05, 6.9 for p = 0.001",
    "filter": "its place in the ranking, counted from the last, which has 1",
}


@dataclass(frozen=True)
class Card:
    """Facts about a method, a CI test, a model or a simulated source.

    Parameters
    ----------
    id : str
        Name in configs, artefacts and reports, ``[a-z0-9][a-z0-9-]*``.
    name : str
        Name in the literature.
    family : str
        ``causal``, ``filter``, ``kernel``, ``wrapper``, ``reference``, ``ci-test``, ``model`` or ``source``.
    summary : str
        One sentence.
    reference : str
        Citation, with DOI if there is one.
    kinds : tuple of str
        Accepted kinds of feature columns, from `KINDS`.
    tasks : tuple of str
        Accepted kinds of targets, from `TARGET_KINDS`. Tests with all of them also accept those of other packages.
    guarantee : str
        What is proved, or ``none``; for tests, what is known about their p-values.
    cost : str
        Number of tests (methods) or work per test (tests), for d features, n rows, psi features in a ranking.
    work : str
        Methods: growth of the work, a key of `WORK` in `workflow/cost.py`. Empty: the default of the family.
    formula : str
        Methods that rank features: the criterion.
    importance : str
        Methods: meaning and unit of the importance. Empty: see `means_by_importance`.
    symmetric : bool
        Tests: whether swapping X and T changes nothing.
    measures : tuple of str
        Tests: what a method may read from results: ``p-value``, ``mutual-information``, ``entropy``, ``hsic``.
    p_values : str
        Tests: ``exact``, ``asymptotic`` or ``resampled``.
    misleads : str
        Tests: where p-values do not control the error rate, with measured rates. `select`, runs and reports show it.
    effect : str
        Tests: the effect that `min_effect` limits, which does not grow with the rows, and its unit. Kinds of targets:
        the exponential of a coefficient, such as ``hazard ratio``. Empty: none.
    incomplete : tuple of str
        Tests: support of missing cells: ``pairwise`` (each test uses the rows complete for its columns),
        ``imputations`` (pooled over imputed copies).
    takes_max_rows : bool
        Tests, and methods without one: whether more than `max_rows` rows are sampled, because models or functions are
        fitted, or rows are compared with each other.
    design_based : bool
        Tests: whether p-values account for clusters and sampling weights of a `Design`. Kinds of targets: whether null
        models have `scores` of rows, so that groups can be clusters.
    column_sets : bool
        Tests: whether X may be a set of columns, tested as one joint variable.
    column_by_column : bool
        Tests: whether the marginal result of a column depends on it and the target only, so that columns can be tested
        in separate jobs.
    max_classes : int or None
        Tests whose `kinds` exclude categorical columns: columns of at most this many levels, and targets of at most
        this many classes, are accepted. None: no exception, and no limit on classes.

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

    def accepts(self, task: str) -> bool:
        """Return whether a kind of target is accepted: one of `tasks`, or of another package if all kinds are.

        Examples
        --------
        >>> card = Card("mine", "my test", "ci-test", "Tests.", "unpublished", tasks=TARGET_KINDS)
        >>> card.accepts("my_kinds:Successes")
        True
        """
        return task in self.tasks or (":" in task and set(FURTHER_KINDS) <= set(self.tasks))

    @property
    def means_by_importance(self) -> str:
        """Meaning of the importance of a feature: that of the card, or the default of the family.

        Examples
        --------
        >>> Card("mine", "my method", "filter", "Ranks by what I like.", "unpublished").means_by_importance
        'its place in the ranking, counted from the last, which has 1'
        """
        return self.importance or IMPORTANCES.get(self.family, "")
