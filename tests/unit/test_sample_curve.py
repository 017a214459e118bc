"""The answer of a search over sample sizes."""

import pytest
from sklearn.datasets import make_classification

import blanketflow as bf
from blanketflow.core.errors import ParameterError

X, Y = make_classification(
    2000, 12, n_informative=4, n_redundant=0, n_clusters_per_class=2, shuffle=False, random_state=3
)


def test_each_row_is_the_answer_with_so_many_rows():
    asked = bf.GS(ci_test="hsic", alpha=0.01, max_rows=300)
    curve = bf.sample_curve(asked, X, Y, [200, 40])
    assert asked.max_rows == 300 and not hasattr(asked, "selected_features_")
    assert curve["n_rows"].tolist() == [40, 200]
    for row in curve.itertuples():
        alone = bf.GS(ci_test="hsic", alpha=0.01, max_rows=row.n_rows).fit(X, Y)
        assert row.features == alone.selected_features_ and row.n_tests == alone.n_tests_
        assert (row.n_features, row.status) == (len(row.features), alone.status_)
    first, last = map(set, curve["features"])
    assert first != last, "the case says nothing about how alike they are"
    assert curve["jaccard"].tolist() == [len(first & last) / len(first | last), 1.0]


@pytest.mark.parametrize(
    ("max_rows", "sizes"),
    [(None, [125, 250, 500, 1000, 2000]), (50, [12, 25, 50]), (9999, [125, 250, 500, 1000, 2000])],
)
def test_sizes_are_halved_unless_they_are_given(max_rows, sizes):
    assert bf.sample_curve(bf.Relief(n_features=2, max_rows=max_rows), X, Y)["n_rows"].tolist() == sizes


def test_more_rows_than_there_are_mean_all():
    assert bf.sample_curve(bf.Relief(n_features=2), X, Y, [100, 3000, 9000])["n_rows"].tolist() == [100, 2000]


@pytest.mark.parametrize(
    ("selector", "sizes", "said"),
    [
        (bf.MRMR(n_features=3), None, "takes all rows"),
        (bf.Relief(n_features=3), [5], "at least 10"),
        (bf.Relief(n_features=3), [], "sizes is empty"),
    ],
)
def test_what_cannot_be_is_refused(selector, sizes, said):
    with pytest.raises(ParameterError, match=said):
        bf.sample_curve(selector, X, Y, sizes)
