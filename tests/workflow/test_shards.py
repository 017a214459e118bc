"""A data set whose rows are counted in shards: the run finds what it finds without them."""

import numpy as np
import pytest

from blanketflow.data.artefacts import read_columns
from workflow_runs import WITHOUT_TABLES, blanketflow, configure, counts, planned, ran

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

CONFIG = {
    "splits": {"evaluation": 0},
    "folds": 0,
    "selectors": {
        "jmi": {"method": "jmi", "n_features": 4},
        "iamb": {"method": "iamb", "ci_test": "fisher-z"},
        "mmpc": {"method": "mmpc", "ci_test": "g2"},
    },
    "models": ["tree"],
}


def test_shards_change_no_result(tmp_path):
    of = {}
    for name, shards in (("with", {"shards": 3}), ("without", {})):
        (tmp_path / name).mkdir()
        configure(tmp_path / name, CONFIG | {"datasets": {"wine": {"source": "sklearn:diabetes", **shards}}})
        of[name] = counts(ran(tmp_path / name, *WITHOUT_TABLES))
    made = {rule: of["with"].get(rule, 0) for rule in ("agree", "count_shard", "merge_shards")}
    assert made == {"agree": 2, "count_shard": 6, "merge_shards": 2} and "agree" not in of["without"]
    found = sorted((tmp_path / "without" / "results").glob("*/wine/full/**/*.parquet"))
    assert len(found) == 2 + 3 * 5
    for path in found:
        (expected, told), (columns, also) = (
            read_columns(tmp_path / name / path.relative_to(tmp_path / "without")) for name in ("without", "with")
        )
        assert (also.status, also.reason, also.n_tests) == (told.status, told.reason, told.n_tests)
        for name in sorted({*expected} - {"seconds"}):
            if "iamb" in path.parts or path.stem == "fisher-z":
                numbers = name not in ("feature", "role", "given", "fold", "chosen", "kept")
                agree = (
                    np.allclose(*(np.array(one[name], float) for one in (columns, expected)), rtol=1e-9, equal_nan=True)
                    if numbers
                    else columns[name] == expected[name]
                )
                assert agree, (path, name)
            else:
                assert columns[name] == expected[name], (path, name)
    for kind, job in (("*.agreement.parquet", "agree"), ("g2.parquet", "merge_shards")):
        path = min((tmp_path / "with/results/counts").rglob(kind))
        said = [blanketflow(tmp_path / "with", "check", "--configfile", "my.yaml").stdout]
        path.rename(tmp_path / "aside")
        said.append(blanketflow(tmp_path / "with", "check", "--configfile", "my.yaml").stdout)
        assert {*said[1].splitlines()} - {*said[0].splitlines()} == {f"{path.relative_to(tmp_path / 'with')}: missing"}
        assert job in counts(planned(tmp_path / "with", *WITHOUT_TABLES))
        (tmp_path / "aside").rename(path)
