"""A stage from outside and what is known of features: it must keep the included ones, and none that are excluded."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blanketflow.core.errors import ArtefactError
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.up_to_date import check_supplies

SCRIPTS = (Path(__file__).parents[2] / "scripts").joinpath


def supplied(folder, stage, kept, **known):
    """Return a plan with a stage from outside, which is written."""
    plan = make_plan(
        {
            "output": str(folder),
            "datasets": {"wine": {"source": "sklearn:wine"}},
            "selectors": {"gs": {"method": "gs", "ci_test": "g2", **known}},
            "splits": {"evaluation": 0},
            "folds": 0,
            "supplied": {"selector": "gs", "stage": stage},
        },
        SCRIPTS,
    )
    path = JobFiles(plan, folder.joinpath).at(stage, dataset="wine", split="full", selector="gs", fold="0")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"feature": list(kept), "kept": list(kept.values())}), path)
    return plan


def test_what_is_known_is_asked_of_a_stage_from_outside(tmp_path):
    kept = {"alcohol": True, "ash": False}
    check_supplies(supplied(tmp_path, "shrink", kept, include=["alcohol"], exclude=["ash"]), tmp_path)
    for known, said in (
        ({"include": ["ash"]}, "does not keep 'ash', which include names. Keep it, or remove include"),
        ({"include": ["hue"]}, "does not keep 'hue'"),
        ({"exclude": ["alc*"]}, "keeps 'alcohol', which exclude names. Leave it out, or remove exclude"),
    ):
        with pytest.raises(ArtefactError, match=said):
            check_supplies(supplied(tmp_path, "shrink", kept, **known), tmp_path)


def test_what_is_grown_outside_need_not_have_the_included_yet(tmp_path):
    check_supplies(supplied(tmp_path, "grow", {"alcohol": True}, include=["ash"]), tmp_path)
    with pytest.raises(ArtefactError, match="supplied as grow, keeps 'alcohol', which exclude names"):
        check_supplies(supplied(tmp_path, "grow", {"alcohol": True}, exclude=["alcohol"]), tmp_path)
