"""These tests run on a Slurm that `make test-cluster` brings up; without it they skip themselves."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "workflow"))  # runs are configured and compared as in the tests of the workflow


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)
            if "BLANKETFLOW_SLURM_LAB" not in os.environ:
                item.add_marker(pytest.mark.skip(reason="needs a Slurm: make test-cluster brings one up"))


@pytest.fixture(scope="session")
def lab():
    """The folder of the lab: its daemons' process ids and logs."""
    return Path(os.environ["BLANKETFLOW_SLURM_LAB"])
