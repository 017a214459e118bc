import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"


def test_the_page_runs_as_it_is_written():
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert outcome.attempted > 15 and outcome.failed == 0
