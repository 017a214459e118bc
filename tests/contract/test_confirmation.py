"""Every method can have its selected features confirmed on rows that its search never saw."""

import pandas as pd
import pytest
from test_selectors import TEST_OF, one_of_each_kind, selector, table

from blanketflow.core.rows import searched_rows
from blanketflow.core.table import column_from_array

pytestmark = pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")


@one_of_each_kind
def test_the_search_never_sees_the_rows_that_confirm(name):
    X, y = table(n=160)
    chosen = {"ci_test": TEST_OF[name]} if name in TEST_OF else {}
    found = selector(name, **chosen, confirm=0.5).fit(X, y)
    codes = column_from_array("y", y).values
    rows = searched_rows(codes, 0.5, 0)
    alone = selector(name, **chosen).fit(X[rows], y[rows])
    assert found.selected_features_ == alone.selected_features_
    pd.testing.assert_frame_equal(found.trace_, alone.trace_)
    assert found.confirmed_["feature"].tolist() == found.selected_features_
