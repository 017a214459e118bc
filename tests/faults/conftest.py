import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))  # runs are configured and compared as in its tests


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of an undisturbed run that has every stage as a job of its own. Tests change a copy."""
    from workflow_runs import configure, snakemake

    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 2},
        "folds": 0,
        "grain": "fold",
        "selectors": {"mrmr": {"method": "mrmr", "n_features": 3}},
        "models": ["tree"],
    }
    folder = configure(tmp_path_factory.mktemp("small"), config)
    snakemake(folder, "--cores", "2")
    return folder
