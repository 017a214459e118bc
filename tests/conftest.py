"""What tests of several folders share: the order of files, a small run, made once, and a browser."""

import fcntl
import shutil
import signal
from pathlib import Path

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the files first that take longest: a process that has one left ends last."""
    items.sort(key=lambda item: (item.get_closest_marker("workflow") is None, "contract" not in item.path.parts))


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
def made_once(tmp_path_factory, worker_id):
    """Return a folder that is filled once for all processes of xdist, by the first that asks for it."""
    base = tmp_path_factory.getbasetemp()
    shared = Path(base if worker_id == "master" else base.parent)

    def folder_of(name, fill):
        folder, done = shared / name, shared / f"{name}.done"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                fill(folder)
                done.touch()
        return folder

    return folder_of


@pytest.fixture(scope="session")
def finished(made_once, base_config):
    """The folder of an undisturbed run on two cores. Tests that change something work on a copy."""
    from workflow_runs import configure, snakemake

    return made_once("finished", lambda folder: snakemake(configure(folder, base_config), "--cores", "2"))


@pytest.fixture(scope="session")
def browser():
    """Chromium; one for all tests of a process, which cannot start another beside it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=0)
        yield started
        started.close()
