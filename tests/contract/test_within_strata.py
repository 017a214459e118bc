"""Every method with tests within strata: it finds what is there, or refuses in words before any job starts."""

import numpy as np
import pytest
from test_selectors import METHODS, TEST_OF, one_of_each, selector, table

from blanketflow.ci import get_ci_test
from blanketflow.core.errors import UnsupportedError
from blanketflow.selectors.compatibility import why_no_strata
from blanketflow.workflow.plan import make_plan

REASONS = {
    name: why_no_strata(method(), get_ci_test(TEST_OF[name]) if name in TEST_OF else None)
    for name, method in METHODS.items()
}
TAKING = [name for name, reason in REASONS.items() if reason is None and name not in ("none", "true-blanket")]
SITE = np.arange(300) % 3


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@one_of_each(TAKING)
def test_a_method_that_takes_strata_finds_what_is_there(name):
    X, y = table(n=300)
    options = {"ci_test": get_ci_test("g2", bins=2)} if TEST_OF.get(name) == "g2" else {}
    assert "signal" in selector(name, **options).fit(X, y, within=SITE).selected_features_


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@one_of_each([name for name in TAKING if METHODS[name].takes_feature_groups])
def test_groups_of_features_are_found_within_strata_too(name):
    X, y = table(n=300)
    options = {"ci_test": get_ci_test("g2", bins=2)} if TEST_OF.get(name) == "g2" else {}
    found = selector(name, feature_groups={"both": ["signal", "noise"]}, **options).fit(X, y, within=SITE)
    assert {"signal", "noise"} <= set(found.selected_features_)


@pytest.mark.parametrize("name", [name for name, reason in REASONS.items() if reason])
def test_the_others_refuse_in_words_and_a_plan_skips_them(name, tmp_path):
    X, y = table(n=300)
    with pytest.raises(UnsupportedError, match=f"{REASONS[name]}. Remove within"):
        selector(name).fit(X, y, within=SITE)
    X.assign(y=y, site=SITE).to_csv(tmp_path / "study.csv", index=False)
    study = {"path": str(tmp_path / "study.csv"), "target": "y", "within": "site"}
    chosen = {"method": name, **({"ci_test": TEST_OF[name]} if name in TEST_OF else {})}
    selectors = {"other": {"method": "gs", "ci_test": "g2"}, "asked": chosen}
    plan = make_plan({"datasets": {"study": study}, "selectors": selectors, "splits": {"evaluation": 0}}, str)
    assert [(skip.selector, skip.reason) for skip in plan.skipped] == [("asked", REASONS[name])]
