"""What tests of several folders share: a small run, made once, and a browser."""

import shutil
import signal

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # an example may take long beside other work
settings.load_profile("any machine")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background jobs ignore it, and so would what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Linear algebra on one thread: the tests' matrices are small, and idle threads of others spin."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def base_config():
    """Small, but with every stage: two methods, the baseline, two CI tests, two evaluation splits, two folds."""
    return {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 2},
        "folds": 2,
        "grain": "split",
        "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
        "selectors": {
            "ppfs": {"method": "ppfs", "ci_test": "quick"},
            "mrmr": {"method": "mrmr", "n_features": 3},
            "all": {"method": "all"},
        },
        "models": ["tree"],
    }


@pytest.fixture(scope="session")
def finished(tmp_path_factory, base_config):
    """The folder of an undisturbed run on two cores. Tests that change something work on a copy."""
    from workflow_runs import configure, snakemake

    folder = configure(tmp_path_factory.mktemp("finished"), base_config)
    snakemake(folder, "--cores", "2")
    return folder


@pytest.fixture(scope="session")
def browser():
    """Chromium; one for all tests of a process, which cannot start another beside it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
