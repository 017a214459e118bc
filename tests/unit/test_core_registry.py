"""Discovery, look-up, seeds and the task rule."""

import subprocess
import sys

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.core import registry
from blanketflow.core.errors import BlanketflowError, ConfigError, DataError, UnknownNameError
from blanketflow.core.registry import discover, import_name, look_up
from blanketflow.core.seeds import derive_rng, derive_seed, seed_32
from blanketflow.core.table import Column, column_from_array
from blanketflow.core.task import infer_task, target_column

MODULE = """
from blanketflow.core.cards import Card
class {name}:
    card = Card("{identifier}", "", "", "", "")
"""


def package(tmp_path, monkeypatch, name, **modules):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    for module, text in modules.items():
        (tmp_path / name / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_every_class_with_a_card_is_found_once(tmp_path, monkeypatch):
    first = MODULE.format(name="B", identifier="b")
    second = MODULE.format(name="A", identifier="a") + "from found_package.one import B\nclass Heir(B): pass\n"
    name = package(tmp_path, monkeypatch, "found_package", one=first, two=second)
    assert {key: c.__name__ for key, c in discover(name).items()} == {"a": "A", "b": "B"}
    assert list(discover(name)) == ["a", "b"]


@pytest.mark.parametrize("name", ["blanketflow.selectors", "blanketflow.ci", "blanketflow.models"])
def test_the_text_of_the_files_says_where_each_class_is(name):
    assert dict(registry._module_of_each(name)) == {id_: c.__module__ for id_, c in discover(name).items()}


def test_a_job_imports_its_own_method_and_not_all():
    code = "import sys; from blanketflow.selectors import get_method; get_method('jmi', '', {}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = [name for name in loaded if name.startswith("blanketflow.selectors.")]
    assert "blanketflow.selectors.filters.information_criteria" in own
    assert not [name for name in own if ".causal" in name or ".wrappers" in name]


def test_two_classes_with_one_id_are_refused(tmp_path, monkeypatch):
    text = MODULE.format(name="A", identifier="same")
    name = package(tmp_path, monkeypatch, "twice_package", one=text, two=text)
    with pytest.raises(BlanketflowError, match=r"twice_package.two and twice_package.one both define the id 'same'"):
        discover(name)


def test_a_module_that_cannot_be_imported_is_not_passed_over(tmp_path, monkeypatch):
    name = package(tmp_path, monkeypatch, "broken_package", one="import no_such_module_anywhere")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        discover(name)


def test_an_unknown_id_offers_the_closest():
    with pytest.raises(UnknownNameError, match=r"^unknown CI test 'fisher'. Did you mean 'fisher-z'"):
        look_up("blanketflow.ci", "fisher", "CI test")
    with pytest.raises(UnknownNameError, match=r"unknown method 'pfps'. Did you mean 'ppfs'"):
        bf.get_selector("pfps")


def test_a_path_is_imported():
    assert look_up("blanketflow.ci", "blanketflow.ci.contingency.g2_and_chi2:G2", "CI test").card.id == "g2"
    assert import_name("collections:OrderedDict").__name__ == "OrderedDict"


@pytest.mark.parametrize("path", ["no_such_package:A", "collections:NoSuch", ":A", "collections:", "a b:c"])
def test_a_broken_path_says_how_to_write_it(path):
    with pytest.raises(ConfigError, match=r"cannot be imported .*Write it as 'package.module:ClassName'"):
        import_name(path)


def test_a_path_to_something_else_is_refused():
    with pytest.raises(ConfigError, match="is not a CI test: derive it from"):
        bf.get_ci_test("collections:OrderedDict")
    with pytest.raises(ConfigError, match="is not a blanketflow method: derive it from"):
        bf.get_selector("collections:OrderedDict")


def test_names_of_the_package():
    assert bf.PPFS is bf.PPFS
    assert bf.PPFS.__name__ == "PPFS"
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = bf.Nonsense


# Seeds.


def test_seeds_are_equal_across_processes_and_hash_seeds():
    program = "from blanketflow.core.seeds import *; print(derive_seed(2026, 'wdbc', 'cv-1'), seed_32('a', 1))"
    for hash_seed in "0", "1":
        out = subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, check=True
        ).stdout
        assert [int(word) for word in out.split()] == [derive_seed(2026, "wdbc", "cv-1"), seed_32("a", 1)]


def test_different_identities_have_different_seeds():
    identities = [(1, 2), (12,), ("1", 2), ("1", "2"), ("12",), ("a", "bc"), ("ab", "c"), ("a",), (), ("",), ("", "")]
    assert len({derive_seed(*identity) for identity in identities}) == len(identities)
    many = [derive_seed(0, "repeat", b) for b in range(2000)]
    assert len(set(many)) == 2000
    assert min(many) >= 0 and max(many) < 2**63
    assert 0.45 < np.mean([seed % 2 for seed in many]) < 0.55
    assert max(seed_32(0, b) for b in range(100)) < 2**31


def test_generators_follow_their_seed():
    assert derive_rng("a", 1).random() == derive_rng("a", 1).random() != derive_rng("a", 2).random()


# The task.


@pytest.mark.parametrize(
    ("values", "task", "reason"),
    [
        (np.array(["a", "b", "c"]), "classification", "target 'y' is categorical"),
        (np.array([True, False]), "classification", "target 'y' is boolean"),
        (np.array([0.5, 7.25, 0.5]), "classification", "target 'y' has 2 distinct values"),
        (np.arange(15) % 3, "classification", "target 'y' has 3 distinct whole numbers"),
        (np.arange(15) % 3 + 0.0, "classification", "target 'y' has 3 distinct whole numbers"),
        (np.arange(14) % 3, "regression", "target 'y' is numeric with 3 distinct values"),
        (np.arange(15) % 3 + 0.5, "regression", "target 'y' is numeric with 3 distinct values"),
        (np.arange(100) % 20, "classification", "target 'y' has 20 distinct whole numbers"),
        (np.arange(105) % 21, "regression", "target 'y' is numeric with 21 distinct values"),
    ],
)
def test_the_task_and_its_reason(values, task, reason):
    assert infer_task(column_from_array("y", values)) == (task, reason)


def test_a_task_that_is_asked_for_is_taken():
    assert infer_task(column_from_array("y", np.arange(3.0)), "classification") == ("classification", "as asked")
    assert infer_task(column_from_array("y", np.array([0, 1])), "regression").name == "regression"
    with pytest.raises(DataError, match="target 'y' holds text, which regression cannot predict"):
        infer_task(column_from_array("y", np.array(["1", "2"])), "regression")


def test_targets_as_methods_want_them():
    classes = target_column(column_from_array("y", np.array([10, 9, 10])), "classification")
    assert (classes.kind, classes.levels, classes.numbers().tolist()) == ("categorical", ("9", "10"), [1, 0, 1])
    assert target_column(Column("y", "numeric", np.array([0.5, 2.0])), "classification").levels == ("0.5", "2")
    assert target_column(column_from_array("y", np.array([True, False])), "classification").levels == ("0", "1")
    assert target_column(column_from_array("y", np.array([3, 1])), "regression").kind == "numeric"
