"""Whether a set holds at a group that it has not seen, such as a site: scores where each split holds out one group.

Steyerberg and Harrell (2016), Prediction models need appropriate internal, internal-external, and external validation,
Journal of Clinical Epidemiology 69, 245-247, doi:10.1016/j.jclinepi.2015.04.005.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from .result_table import frame
from .scores import is_higher_better

if TYPE_CHECKING:
    import pandas as pd

HELD_OUT_GROUPS = rows_of(
    "data set, selector, model, metric and group: how well the set does there, found and trained without its rows",
    "dataset selector model metric group n_rows value seen drop prior n_features status reason",
    group=Column("string", "the group that the split holds out, as its column names it"),
    n_rows=Column("int64", "its rows"),
    value=Column("double", "score at this group; NaN where there is none", "the metric's"),
    drop=Column("double", "by how much that is worse than `seen`; negative if it is better", "the metric's"),
    prior=Column("double", "score there of the majority class or the mean, without any feature", "the metric's"),
)


def held_out_groups(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each score at a group that was held out; none where no groups were.

    Parameters
    ----------
    evaluations : DataFrame
        Rows of the artefact ``evaluate`` with dataset and selector, and with `group` and `n_rows` where there are some.
    """
    import pandas as pd

    if "group" not in evaluations:
        return frame(HELD_OUT_GROUPS, [])
    known = evaluations.dropna(subset=["model", "metric", "group"])
    numbers = {name: pd.to_numeric(known[name]) for name in ("value", "seen", "prior")}
    sign = known["metric"].map(lambda metric: 1 if is_higher_better(metric) else -1)
    known = known.assign(**numbers, drop=sign * (numbers["seen"] - numbers["value"]))
    return frame(HELD_OUT_GROUPS, known.to_dict("records"))
