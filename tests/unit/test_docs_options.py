"""Code of the pages about rows, groups, missing cells and error control, on a table of the columns that they name."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from blanketflow.config.reading import read_config
from blanketflow.core.errors import UnreliableWarning

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: Pages, and whether they compare or select for seconds.
PAGES = {
    "clusters": False,
    "error-control": False,
    "feature-groups": True,
    "missing": True,
    "rows": True,
    "sample-design": False,
    "shards": False,
    "targets": False,
}


def blocks(page, language):
    found = [body for of, body in FENCE.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")) if of == language]
    assert found, page
    return found


def named(page):
    """Return what the code of a page calls by name: 40 patients of four rows each, and three sites."""
    rng, n = np.random.default_rng(0), 160
    numbers = {name: rng.normal(size=n) for name in ("age", "income", "dose", "height")}
    X = pd.DataFrame({**numbers, "site_a": rng.integers(0, 2, n), "region": rng.choice(list("abc"), n)})
    counted = X[["region", "site_a"]]
    if page == "error-control":  # dcrt takes numbers only
        X = X[[*numbers]]
    if page == "feature-groups":
        X["site_b"] = 1 - X["site_a"]
    if page == "missing":
        X.loc[rng.random(n) < 0.1, "dose"] = np.nan
    y = pd.Series(np.where(numbers["age"] + rng.normal(size=n) > 0, "yes", "no"), name="outcome")
    patient, site = np.repeat(np.arange(40), 4), rng.choice(list("uvw"), n)
    if page == "rows":
        X["site"] = site
    known = {"X": X, "y": y, "patient": patient, "household": patient, "site": site}
    known["opened"] = pd.date_range("2024-01-01", periods=n, freq="3D")
    known |= {"weight": rng.random(n) + 0.5, "persons": rng.integers(1, 4, n)}
    known |= {"table": X.assign(relapse=y, death=rng.permutation(y)), "frame_b": counted.assign(outcome=y)}
    return known


@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.extended if s else ()) for p, s in PAGES.items()])
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = named(page)
    known["frame_b"].to_parquet("a.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)  # the table is small
        for block in blocks(page, "python"):
            exec(f"import blanketflow as bf\n{block}", dict(known))


@pytest.mark.parametrize("page", PAGES)
def test_the_configs_of_a_page_are_valid(page):
    whole = {"datasets": {"clinic": {"source": "simulate:clinic"}}, "selectors": {"all": {"method": "all"}}}
    for block in blocks(page, "yaml"):
        read_config(whole | yaml.safe_load(block))
