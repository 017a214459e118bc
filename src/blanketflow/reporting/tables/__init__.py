"""From artefacts to result tables: frames in, frames out, no files."""

from .answers import ANSWERS, answers
from .blankets import (
    AGREEMENT,
    BLANKETS,
    CONFIRMED,
    DISCOVERIES,
    TRUTH,
    UNIONS,
    agreement,
    blankets_table,
    confirmed_table,
    discoveries_table,
    truth,
    unions_table,
)
from .drift import DRIFT, drift
from .ranks import FRIEDMAN, RANKS, WINS, comparable, friedman, friedman_ranks, ranks, wins
from .result_table import Found, ResultTable
from .scores import (
    HELD_OUT_GROUPS,
    OBSERVED,
    OPTIMISM,
    SCORES,
    held_out_groups,
    observed,
    optimism,
    scores,
)
from .stability import STABILITY, between_groups, nogueira, stability
from .status_and_cost import RUNTIME, STATUSES, runtime, statuses, unclean

#: Every result table by name, for the workflow, the documentation and `compare`.
TABLES = {
    "answers": ResultTable("which features to keep on each data set, and how sure that is", ANSWERS, answers),
    "scores": ResultTable(
        "mean and spread of each metric, by data set, selector and model", SCORES, lambda found: found.scores
    ),
    "blankets": ResultTable(
        "features of the final blankets, with importance and role",
        BLANKETS,
        lambda found: blankets_table(found.blankets, found.folds),
    ),
    "unions": ResultTable(
        "features of the final blankets of several targets, and of which targets each is",
        UNIONS,
        lambda found: unions_table(found.blankets, found.folds, found.targets, found.selectors),
    ),
    "confirmed": ResultTable(
        "members of the final blankets, tested on rows that the search never saw",
        CONFIRMED,
        lambda found: confirmed_table(found.confirmed),
    ),
    "discoveries": ResultTable(
        "smallest false discovery rate at which each feature is a discovery, by methods that control it at any level",
        DISCOVERIES,
        lambda found: discoveries_table(found.discoveries),
    ),
    "stability": ResultTable(
        "how much the chosen sets vary over the splits",
        STABILITY,
        lambda found: stability(found.blankets, found.folds, found.cards),
    ),
    "agreement": ResultTable(
        "what the final blankets of two selectors have in common",
        AGREEMENT,
        lambda found: agreement(found.blankets, found.folds),
    ),
    "ranks": ResultTable("mean ranks of the selectors over the data sets", RANKS, lambda found: ranks(found.competing)),
    "wins": ResultTable("on how many data sets a selector beats another", WINS, lambda found: wins(found.competing)),
    "optimism": ResultTable(
        "scores of blankets that have seen the test rows, compared with honest ones",
        OPTIMISM,
        lambda found: optimism(found.both_selections),
    ),
    "held_out_groups": ResultTable(
        "scores at groups, such as sites, that neither the search nor the model has seen",
        HELD_OUT_GROUPS,
        lambda found: held_out_groups(found.evaluations),
    ),
    "observed": ResultTable(
        "what was observed on unseen rows, by parts of what was predicted",
        OBSERVED,
        lambda found: observed(found.observed),
    ),
    "drift": ResultTable(
        "how the selected features change over periods of time: distribution, sign and rank", DRIFT, drift
    ),
    "friedman": ResultTable(
        "whether the selectors differ over the data sets",
        FRIEDMAN,
        lambda found: friedman(found.scores, comparable(found.selectors)),
    ),
    "friedman_ranks": ResultTable(
        "mean ranks over the data sets that the test counts",
        RANKS,
        lambda found: friedman_ranks(found.scores, comparable(found.selectors)),
    ),
    "runtime": ResultTable(
        "tests and seconds of each selector", RUNTIME, lambda found: runtime(found.folds, found.evaluations)
    ),
    "truth": ResultTable(
        "how well the true blankets were found, where they are known",
        TRUTH,
        lambda found: truth(found.blankets, found.folds, found.cards),
    ),
    "statuses": ResultTable(
        "how every search and every model ended, with the reason",
        STATUSES,
        lambda found: statuses(found.ended, found.skipped),
    ),
}

__all__ = [
    "OBSERVED",
    "TABLES",
    "Found",
    "ResultTable",
    "agreement",
    "answers",
    "between_groups",
    "blankets_table",
    "comparable",
    "drift",
    "friedman",
    "friedman_ranks",
    "held_out_groups",
    "nogueira",
    "observed",
    "optimism",
    "ranks",
    "runtime",
    "scores",
    "stability",
    "statuses",
    "truth",
    "unclean",
    "unions_table",
    "wins",
]
