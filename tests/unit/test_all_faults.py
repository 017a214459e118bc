"""All faults of a configuration are said at once, each on a line of its own."""

import copy

import pytest

from blanketflow import get_ci_test
from blanketflow.config.file import read_config_file
from blanketflow.config.reading import read_config
from blanketflow.core.errors import BlanketflowError, ConfigError, DataError, Faults, ParameterError, SeveralErrors
from blanketflow.workflow.plan import make_plan

GOOD = {
    "datasets": {"study": {"path": "study.csv", "target": "y"}, "wine": {"source": "sklearn:wine"}},
    "splits": {"evaluation": 2},
    "folds": 2,
    "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
    "selectors": {"ppfs": {"method": "ppfs", "ci_test": "quick"}, "mim": {"method": "mim", "n_features": 1}},
    "models": ["tree"],
}
#: Where a fault is put, and the begin of what is said of it.
FAULTS = {
    ("fold",): (2, "config: unknown key 'fold'. Did you mean 'folds'"),
    ("seed",): ("hello", "config: seed is 'hello', but must be a whole number"),
    ("output",): ("~/results", "config: output is '~/results', but ~ is not replaced"),
    ("aggregate",): ("most", "config: unknown aggregate 'most'."),
    ("datasets", "study", "traget"): ("y", "config: data set 'study': unknown key 'traget'. Did you mean 'target'?"),
    ("datasets", "study", "path"): ("studi.csv", "study: there is no file studi.csv."),
    ("datasets", "study", "sha256"): ("12", "config: data set 'study': sha256 is '12'"),
    ("datasets", "study", "header"): ("nmaes", "config: data set 'study': header is 'nmaes'"),
    ("datasets", "Bad"): ({"source": "sklearn:wine"}, "config: datasets has the id 'Bad'"),
    ("datasets", "gone"): ({"path": "gone.csv", "target": "y"}, "gone: there is no file gone.csv."),
    ("datasets", "other"): (
        {"path": "study.csv", "target": "Y"},
        "other: target names the column 'Y', which is not there.",
    ),
    ("splits", "optimistik"): (True, "config: splits: unknown key 'optimistik'. Did you mean 'optimistic'?"),
    ("splits", "repeats"): (0, "config: splits: repeats is 0"),
    ("ci_tests", "quick", "n_repeat"): (3, "config: ci_tests.quick: CI test 'ppi': ppi has no option 'n_repeat'."),
    ("ci_tests", "quick", "test_size"): (2, "config: ci_tests.quick: CI test 'ppi': test_size is 2"),
    ("selectors", "ppfs", "alfa"): (1, "config: selector 'ppfs': ppfs has no option 'alfa'. Did you mean 'alpha'?"),
    ("selectors", "ppfs", "time_limit"): (-1, "config: selector 'ppfs': time_limit is -1"),
    ("selectors", "mim", "n_features"): (0, "config: selector 'mim': n_features is 0"),
    ("selectors", "gs"): (
        {"method": "gs", "ci_test": "g3", "alpha": 2},
        "config: selector 'gs': unknown ci_test 'g3'.",
    ),
    ("selectors", "none"): ({"method": "mimm"}, "config: selector 'none': unknown method 'mimm'."),
    ("models",): (["tree", "tre", "svn"], "config: models: unknown model 'tre'."),
    ("metrics",): (["acuracy"], "config: unknown metric 'acuracy'."),
}
MORE = ("config: selector 'gs': alpha is 2", "config: models: unknown model 'svn'.")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.csv").write_text("x,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(60)))
    return tmp_path


def with_faults(places):
    config = copy.deepcopy(GOOD)
    for *path, last in places:
        section = config
        for key in path:
            section = section[key]
        section[last] = FAULTS[(*path, last)][0]
    return config


def lines_of(config):
    with pytest.raises(BlanketflowError) as caught:
        make_plan(config, "scripts/{}".format)
    return caught.value.lines


def test_the_configuration_without_them_is_good(folder):
    assert make_plan(GOOD, "scripts/{}".format).pairs


@pytest.mark.parametrize("place", FAULTS, ids=".".join)
def test_one_fault_is_one_line(folder, place):
    lines = lines_of(with_faults([place]))
    assert lines[0].startswith(FAULTS[place][1])
    assert len(lines) == 1 + (place in [("selectors", "gs"), ("models",)])


def test_all_faults_are_said_at_once_each_on_its_line_and_no_other(folder):
    lines = lines_of(with_faults(FAULTS))
    expected = [begin for _, begin in FAULTS.values()] + list(MORE)
    assert sorted(begin for begin in expected if any(line.startswith(begin) for line in lines)) == sorted(expected)
    assert len(lines) == len(expected)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("section", ["datasets", "selectors"])
def test_what_is_left_out_is_said_unless_its_name_is_misspelt(section):
    left_out = {key: value for key, value in GOOD.items() if key != section} | {"seed": -1}
    with pytest.raises(ConfigError) as caught:
        read_config(left_out)
    assert len(caught.value.lines) == 2 and f"config: {section} must name at least one entry" in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        read_config({**left_out, f"{section[:-1]}": GOOD[section]})
    assert len(caught.value.lines) == 2 and "must name at least one" not in str(caught.value)


def test_sections_that_do_not_go_together_are_said_at_once():
    config = copy.deepcopy(GOOD) | {"folds": 1, "supplied": {"selector": "mmi", "stage": "grow"}}
    config["selectors"]["mim"] |= {"datasets": ["win", "study", "studi"]}
    config["datasets"]["wine"] |= {"test_rows": 10}
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    begins = (
        "config: data set 'wine' has test_rows",
        "config: selector 'mim': unknown data set 'win'. Did you mean 'wine'?",
        "config: selector 'mim': unknown data set 'studi'. Did you mean 'study'?",
        "config: folds is 1",
        "config: supplied names the selector 'mmi'.",
    )
    assert [line.startswith(begin) for line, begin in zip(caught.value.lines, begins, strict=True)] == [True] * 5


def test_a_fault_of_a_data_set_with_several_targets_is_said_once(folder):
    (folder / "study.csv").write_text("x,y,z\n" + "".join(f"{i % 7},{i % 2},{i % 3}\n" for i in range(60)))
    config = copy.deepcopy(GOOD)
    config["datasets"]["study"] |= {"target": ["y", "z"], "droop": ["x"]}
    assert len(lines_of(config)) == 1


def test_a_file_of_yaml_is_looked_through_to_its_end(folder):
    (folder / "my.yaml").write_text("seed: 012\nfolds: 2\nfolds: 3\noutput: !!python/name:os.system\n")
    with pytest.raises(ConfigError) as caught:
        read_config_file("my.yaml")
    assert sorted(line.split(": ")[0] for line in caught.value.lines) == [f"my.yaml, line {n}" for n in (1, 3, 4)]


def test_options_in_python_are_said_at_once():
    with pytest.raises(ParameterError) as caught:
        get_ci_test("ppi", n_repeats=0, test_size=2, modle="tree")
    assert len(caught.value.lines) == 3


def test_one_error_stays_as_it_is_and_several_are_of_every_class_that_is_caught():
    faults, error = Faults(), DataError("a")
    faults.refuse()
    faults.note(error)
    with pytest.raises(DataError) as caught:
        faults.refuse()
    assert caught.value is error
    faults.note(SeveralErrors(ConfigError("b"), ConfigError("a")))
    for kind in (ConfigError, DataError, ParameterError, ValueError):
        with pytest.raises(kind) as caught:
            faults.refuse()
    assert str(caught.value) == "a\nb"
