"""Missing cells in `fit`: refused, imputed within the rows of each fold, or their rows dropped."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import DataError

METHODS = ["iamb", "hiton-mb", "mrmr", "relief", "ppfs"]


def study(n=200, seed=0):
    """Numbers and labels with missing cells in every row that a multiple of seven or eleven counts."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"dose": rng.normal(size=n), "age": rng.normal(size=n), "site": rng.choice(["u", "v", "w"], n)})
    y = pd.Series(np.where(X["dose"] + 0.5 * (X["site"] == "u") > 0.2, "yes", "no"))
    X.loc[::7, "dose"] = np.nan
    X.loc[::11, "site"] = None
    return X, y


def learnt(name, X, y, **options):
    options |= {"n_features": 2} if name in ("mrmr", "relief") else {"n_repeats": 5} if name == "ppfs" else {}
    options |= {"ci_test": "g2"} if name in ("iamb", "hiton-mb") else {}
    found = bf.get_selector(name, **options).fit(X, y)
    return found.selected_features_, found.roles_, found.importances_, found.n_tests_


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@pytest.mark.parametrize("name", METHODS)
def test_dropped_rows_were_never_there(name):
    X, y = study()
    complete = X.dropna()
    expected = learnt(name, complete, y[complete.index], n_folds=2)
    assert learnt(name, X, y, missing="drop", n_folds=2) == expected


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@pytest.mark.parametrize("name", METHODS)
def test_imputed_are_the_lower_median_and_the_most_frequent_label(name):
    X, y = study()
    known = np.sort(X["dose"].dropna())
    filled = X.fillna({"dose": known[(len(known) - 1) // 2], "site": X["site"].mode()[0]})
    assert learnt(name, X, y, missing="impute") == learnt(name, filled, y)


def test_the_workflow_imputes_alike():
    X, y = study()
    compared = bf.compare(X, y, [bf.MRMR(n_features=2)], evaluation=0, folds=0)
    rows = compared.blankets.query("selector == 'mrmr'")
    found = bf.MRMR(n_features=2, missing="impute").fit(X, y)
    assert dict(zip(rows["feature"], rows["importance"], strict=True)) == found.importances_


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.DependentRowsWarning")
def test_weights_and_groups_follow_their_rows():
    X, y = study()
    weights, groups = np.arange(len(X)) % 3, np.arange(len(X)) // 5
    complete = X.dropna().index
    found = bf.MRMR(n_features=2, missing="drop", n_folds=2).fit(X, y, sample_weight=weights, groups=groups)
    expected = bf.MRMR(n_features=2, n_folds=2).fit(
        X.loc[complete], y[complete], sample_weight=weights[complete], groups=groups[complete]
    )
    assert (found.importances_, found.blankets_) == (expected.importances_, expected.blankets_)


def test_rows_with_missing_cells_are_transformed():
    X, y = study()
    found = bf.MIM(n_features=1, missing="impute").fit(X[["dose", "age"]], y)
    assert np.isnan(found.transform(X[["dose", "age"]])).sum() == X["dose"].isna().sum()


def test_nothing_is_imputed_unasked_and_infinity_never():
    X, y = study()
    with pytest.raises(DataError, match=r"column 'dose'. For missing cells set missing to impute or drop"):
        bf.MIM().fit(X, y)
    with pytest.raises(DataError, match="NaN or infinity in column 'age'"):
        bf.MIM(missing="impute").fit(X.assign(age=np.inf), y)
    with pytest.raises(DataError, match=r"MIM: 0 rows are complete, and at least 2 are needed. Set missing to impute"):
        bf.MIM(missing="drop").fit(X.assign(age=np.nan), y)
