"""How studies/shared/paper_data.py cuts numbers into labels."""

import numpy as np
import pandas as pd
import pytest

from studies.shared.paper_data import cut


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("median", ["not above", "not above", None, "above", "above"]),
        ("value", ["0.0", "1.0", None, "2.0", "10.0"]),
        (2, ["bin 0.0", "bin 0.0", None, "bin 0.0", "bin 1.0"]),
    ],
)
def test_what_is_missing_stays_missing(by, labels):
    found = cut(pd.Series([0, 1, np.nan, 2, 10]), by)
    assert found.isna().tolist() == [False, False, True, False, False]
    assert found.dropna().tolist() == [label for label in labels if label]
