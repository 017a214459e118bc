"""Tables sort and search, by pointer and by keyboard."""

import pytest

pytestmark = pytest.mark.extended


@pytest.fixture
def scores(page):
    return page.get_by_role("region", name="Scores on breast-cancer: accuracy", exact=True)


@pytest.fixture
def known(run):
    """The scores that the table shows: one row per selector and for no feature, one column per model."""
    shown = run.scores("breast-cancer").query("metric == 'accuracy'")
    return shown.pivot(index="selector", columns="model", values="mean").loc[[*run.selectors, "none"]]


def selectors(region):
    return region.locator("tbody tr:visible th").all_inner_texts()


def direction(region, name):
    return region.get_by_role("columnheader", name=name).get_attribute("aria-sort")


def test_a_header_sorts_by_value_up_down_and_back(scores, known):
    assert selectors(scores) == list(known.index)
    svm = scores.get_by_role("button", name="svm")
    ascending = list(known["svm"].sort_values(kind="stable").index)
    for expected, said in ((ascending, "ascending"), (ascending[::-1], "descending"), (list(known.index), "none")):
        svm.click()
        assert selectors(scores) == expected
        assert direction(scores, "svm") == said


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_header_sorts_by_keyboard(scores, known, key):
    scores.get_by_role("button", name="knn").focus()
    scores.page.keyboard.press(key)
    assert selectors(scores) == list(known["knn"].sort_values(kind="stable").index)


def test_one_column_at_a_time_is_marked_as_sorted(scores):
    scores.get_by_role("button", name="knn").click()
    scores.get_by_role("button", name="tree").click()
    assert (direction(scores, "knn"), direction(scores, "tree")) == ("none", "ascending")


def test_names_sort_by_their_letters_and_numbers(scores):
    scores.get_by_role("button", name="selector").click()
    assert selectors(scores) == ["all", "gs-1", "gs-2", "gs-3", "gs-10", "gs-11", "gs-12", "hiton-mb", "none", "ppfs"]


def test_missing_values_stand_last_and_ties_keep_their_order(page):
    page.evaluate("""() => {
        const cells = document.querySelectorAll('[aria-label^="Tests and time on breast"] tbody td:nth-child(2)');
        cells.forEach((cell, at) => at == 3 ? delete cell.dataset.value : cell.dataset.value = at % 2);
    }""")
    region = page.get_by_role("region", name="Tests and time on breast-cancer")
    written = selectors(region)
    even = [name for at, name in enumerate(written) if at % 2 == 0]
    odd = [name for at, name in enumerate(written) if at % 2 == 1 and at != 3]
    button = region.get_by_role("button", name="tests")
    button.click()
    assert selectors(region) == [*even, *odd, written[3]]
    button.click()
    assert selectors(region) == [*odd, *even, written[3]]


def test_search_keeps_the_rows_with_all_words_and_counts_them(page, scores, known):
    field = page.get_by_label("Search Scores on breast-cancer: accuracy", exact=True)
    count = page.locator(".search", has=field).get_by_role("status")
    assert count.inner_text() == f"{len(known)} rows"
    field.fill("GS-1")
    assert selectors(scores) == ["gs-1", "gs-10", "gs-11", "gs-12"]
    assert count.inner_text() == f"4 of {len(known)} rows"
    assert count.get_attribute("aria-live") == "polite"
    mean = f"{known.loc['gs-3', 'svm']:.3f}"
    field.fill(f"{mean} gs-3")
    assert selectors(scores) == ["gs-3"]
    field.fill("no such row")
    assert selectors(scores) == []
    field.fill("")
    assert selectors(scores) == list(known.index)


def test_what_is_searched_can_be_sorted(page, scores, known):
    page.get_by_label("Search Scores on breast-cancer: accuracy", exact=True).fill("gs-1")
    scores.get_by_role("button", name="tree").click()
    expected = known.loc[["gs-1", "gs-10", "gs-11", "gs-12"], "tree"].sort_values().index
    assert selectors(scores) == list(expected)


def test_short_tables_have_no_search_field(page):
    short = page.evaluate("[...document.querySelectorAll('.search + .scroll tbody')].map(body => body.rows.length)")
    rest = page.evaluate(
        "[...document.querySelectorAll('.scroll:not(.search + .scroll) > table tbody')].map(body => body.rows.length)"
    )
    assert min(short) > 8 >= max(rest)
