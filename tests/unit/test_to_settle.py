"""What to settle of a table: one entry for each kind of finding, with a key that is written as it is read."""

import pytest
import yaml

from blanketflow.data.findings import Finding, in_lines
from blanketflow.data.findings.finding import IN_WORDS, SERIOUS
from blanketflow.data.findings.to_settle import MOST_COLUMNS, MOST_LINES, RULES, seriousness, to_settle


def finding(kind, *columns, advice="Look."):
    return Finding(kind, columns, f"{', '.join(columns)} is odd", advice)


def test_every_kind_that_changes_an_answer_is_settled_and_has_a_name():
    assert set(SERIOUS) <= set(RULES) and set(SERIOUS) <= set(IN_WORDS)


def test_the_most_serious_come_first_and_a_kind_is_told_once():
    found = [finding("code", "c"), finding("leakage", "a"), finding("constant", "k"), finding("leakage", "b")]
    leak, code = to_settle(found, 9)
    assert (leak.kind, leak.columns, leak.key) == ("leakage", ("a", "b"), "drop: [a, b]")
    assert leak.said == "a is odd; 1 more such" and not leak.is_sure
    assert (code.kind, code.option) == ("code", "categorical=[c]")
    assert [one.kind for one in sorted(found, key=seriousness)] == ["leakage", "leakage", "code", "constant"]


def test_the_way_out_in_python_names_no_key_of_a_config():
    few, many = ([finding("identifier", *(f"c{i}" for i in range(n)))] for n in (2, MOST_COLUMNS + 1))
    assert in_lines([one.as_dict() for one in few], "arguments")[0].endswith(" is odd: exclude=['c0', 'c1']")
    assert in_lines([one.as_dict() for one in many], "arguments")[0].endswith(" is odd: exclude them")


@pytest.mark.parametrize("name", ["a: b", "x, y", 'say "so"', "null", "Größe", "#1", "[x]", "it's"])
def test_a_key_is_read_as_the_columns_it_names(name):
    (one,) = to_settle([finding("identifier", name)], 9)
    assert yaml.safe_load(one.key) == {"drop": [name]} and one.is_sure


def test_a_key_that_the_advice_names_with_its_value_comes_first():
    marker = finding("suspected-marker", "a", advice='If they are, set missing_values: ["nd", "-9"]; if not, [].')
    (one,) = to_settle([marker], 9)
    assert (one.option, one.when, one.is_sure) == ('missing_values=["nd", "-9"]', "if they are", False)
    (one,) = to_settle([finding("number", "a", advice="Set below_detection: half, or list it.")], 9)
    assert (one.key, one.when) == ("below_detection: half", "")
    (one,) = to_settle([finding("spelling", "a", advice="If they mean the same, set similar_labels: merge.")], 9)
    assert (one.key, one.when) == ("similar_labels: merge", "if they mean the same")


def test_of_a_column_that_is_dropped_nothing_else_is_said():
    found = [finding("leakage", "time"), finding("follow-up", "time"), finding("leakage", "a"), finding("code", "time")]
    first, leak = to_settle(found, 9)
    assert (first.kind, first.is_sure, leak.said, leak.key) == ("follow-up", True, "a is odd", "drop: [a]")


def test_no_key_drops_all_features_or_names_more_columns_than_a_line_holds():
    names = [f"x{i}" for i in range(MOST_COLUMNS + 1)]
    assert to_settle([finding("identifier", *names[:3])], 3)[0].key == ""
    assert to_settle([finding("identifier", *names)], 99)[0].key == ""
    assert not to_settle([finding("identifier", *names)], 99)[0].is_sure
    assert to_settle([finding("group", "a", "b")], 9)[0].key == "groups: a"  # a data set has one


def test_at_most_three_lines_name_all_serious_kinds():
    found = [finding(kind, f"c{at}").as_dict() for at, kind in enumerate(SERIOUS)]
    lines = in_lines([*found, finding("code", "z").as_dict()])
    assert len(lines) == MOST_LINES and lines[0].startswith("look at the table first: ")
    text = " ".join(lines)
    assert all(f"{IN_WORDS[kind]} (c{at})" in text for at, kind in enumerate(SERIOUS)) and "z" not in text
    assert lines[-1].endswith("blanketflow inspect says why")
