"""Names of the package as tools see them: editors, `help`, `dir`, `inspect`, pickles, the wheel."""

import base64
import copy
import inspect
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.api import selectors
from blanketflow.api.arguments import sections
from blanketflow.core.registry import discover
from blanketflow.selectors import get_method
from blanketflow.selectors.causal.gs import GS
from generate import selector_classes

METHODS = {method.__name__: method for method in discover("blanketflow.selectors").values()}
#: ``pickle.dumps(bf.GS(alpha=0.01, ci_test=bf.get_ci_test("fisher-z")))``, since tests are pickled by their ids.
OLD = (
    "gASV5QEAAAAAAACMGWJsYW5rZXRmbG93LmFwaS5zZWxlY3RvcnOUjAJHU5STlCmBlH2UKIwHY2lfdGVzdJSMG2JsYW5rZXRmbG93LmNvcmUucG"
    "FyYW1ldGVyc5SMBl9vZl9pZJSTlIwOYmxhbmtldGZsb3cuY2mUjAhmaXNoZXItepSGlFKUfZRijAVhbHBoYZRHP4R64UeuFHuMBW1heF9rlE6M"
    "CmNvcnJlY3Rpb26UjARub25llIwKbWluX2VmZmVjdJROjAduX2ZvbGRzlEsAjAlmb2xkX3Jvd3OUjAV0cmFpbpSMCWFnZ3JlZ2F0ZZSMDGJlc3"
    "QtYmxhbmtldJSMBHRhc2uUjARhdXRvlIwMcmFuZG9tX3N0YXRllEsAjAp0aW1lX2xpbWl0lE6MCW1heF90ZXN0c5ROjAhtYXhfcm93c5ROjAdj"
    "b25maXJtlE6MDmNvbmZpcm1fc3BsaXRzlEsBjAdpbmNsdWRllE6MB2V4Y2x1ZGWUTowFdGllcnOUTowOZmVhdHVyZV9ncm91cHOUTowFY29zdH"
    "OUTowHbWlzc2luZ5SMBWVycm9ylIwLd2VpZ2h0c19hcmWUjAZjb3VudHOUjAtpbXB1dGF0aW9uc5ROjAZuX2pvYnOUTowHdmVyYm9zZZRLAHVi"
    "Lg=="
)


@dataclass
class Foreign(GS):
    """A method of someone else."""


def test_the_generated_files_are_in_step_with_the_declarations():
    package, module = Path(bf.__file__), Path(selectors.__file__)
    assert module.read_text(encoding="utf-8") == selector_classes.selectors_text(), "run make docs"
    text = package.read_text(encoding="utf-8")
    assert text == selector_classes.package_text(text), "run make docs"


def test_every_method_has_a_class_that_tools_find():
    assert set(METHODS) == set(selectors.__all__)
    assert set(METHODS) <= set(bf.__all__) <= set(dir(bf))
    for name, method in METHODS.items():
        found = getattr(bf, name)
        assert found is getattr(selectors, name) and found.method_class is method
        assert inspect.getsource(found).startswith(f"class {name}(MarkovBlanketSelector):")
        assert type(bf.get_selector(method.card.id)) is found


@pytest.mark.parametrize("name", METHODS)
def test_a_class_is_documented_and_nothing_twice(name):
    found, method = getattr(bf, name), METHODS[name]
    _, parts = sections(found)
    expected = ["Parameters", "Attributes", "Raises", "Notes", "References", "Examples"]
    missing = {"Raises"} | ({"References"} if method.card.reference == "none" else set())
    assert [heading for heading in expected if heading in parts or heading not in missing] == list(parts)
    assert parts.get("References", "none") == method.card.reference
    assert method.card.guarantee in parts["Notes"]
    entries = [line for line in found.__doc__.splitlines() if " : " in line]
    assert len(entries) == len(set(entries))
    paragraphs = [text for text in found.__doc__.split("\n\n") if not text.startswith(">>>")]
    assert len(paragraphs) == len(set(paragraphs))
    # What an editor shows without importing anything.
    assert inspect.cleandoc(found.__doc__).splitlines()[0] in inspect.getsource(found)
    assert "null" not in parts["Parameters"].replace("null :", "")


def test_an_option_of_the_test_says_what_it_is_if_left_out():
    _, parts = sections(bf.PPFS)
    assert "n_repeats : int at least 2 and at most 100000, or None, default=None\n" in parts["Parameters"]
    assert "None: the test's own (30)." in parts["Parameters"]
    assert 'None: the test\'s own ("wilcoxon").' in parts["Parameters"]
    assert inspect.signature(bf.PPFS).parameters["n_repeats"].default is None
    assert 'The default is used with directions="target".' in sections(bf.MixedMB)[1]["Parameters"]


@pytest.mark.parametrize("name", METHODS)
def test_what_editors_read_is_the_signature(name):
    """Type checkers derive a signature from the annotated fields of a class and of its base."""
    found = getattr(bf, name)
    fields = inspect.get_annotations(found) | inspect.get_annotations(bf.MarkovBlanketSelector)
    fields = {field: (kind.replace("'", '"'), getattr(found, field)) for field, kind in fields.items()}
    fields.pop("method_class")
    signature = inspect.signature(found).parameters
    assert fields == {parameter: (known.annotation, known.default) for parameter, known in signature.items()}


def test_a_class_refuses_what_it_does_not_take():
    with pytest.raises(TypeError, match=r"^PPFS.__init__\(\) takes 1 positional argument but 2 were given$"):
        bf.PPFS(0.05)
    with pytest.raises(TypeError, match=r"^PPFS has no parameter 'alhpa'. Did you mean 'alpha'\?$"):
        bf.PPFS(alhpa=0.05)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = bf.Nonsense


@pytest.mark.parametrize("package", ["selectors", "ci", "models"])
def test_pickles_name_no_file_of_a_class(package):
    for identifier, found in discover(f"blanketflow.{package}").items():
        configured = found.__new__(found)
        configured.__dict__.update(found.defaults())
        pickled = pickle.dumps(configured)
        assert found.__module__.encode() not in pickled and identifier.encode() in pickled
        assert type(pickle.loads(pickled)) is found and pickle.loads(pickled).options() == configured.options()


def test_classes_without_an_id_are_pickled_as_any_other():
    external = get_method("sklearn.feature_selection:SelectKBest", "here", {"k": 4})
    assert pickle.loads(pickle.dumps(external)).options() == external.options() == {"k": 4}
    foreign = Foreign(alpha=0.2)
    assert type(pickle.loads(pickle.dumps(foreign))) is Foreign and copy.deepcopy(foreign) == foreign


def test_pickles_of_the_version_before_still_load():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    thawed = pickle.loads(base64.b64decode(OLD))
    assert type(thawed) is bf.GS and thawed.alpha == 0.01 and thawed.ci_test.card.id == "fisher-z"
    fitted = thawed.fit(X, X[:, 1] + rng.normal(size=100) / 9)
    assert fitted.selected_features_ == ["x1"]
    old = pickle.dumps(fitted, protocol=2).replace(b"cblanketflow.api.selectors\n", b"cblanketflow\n")
    assert b"api.selectors" not in old
    assert np.array_equal(pickle.loads(old).transform(X), X[:, [1]])


def test_importing_the_package_loads_nothing_of_it_and_no_package():
    program = "import sys; before = set(sys.modules); import blanketflow; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    standard = {*sys.stdlib_module_names}
    loaded = {name for name in eval(done.stdout) if name.partition(".")[0] not in standard}
    assert loaded == {"blanketflow"}


def test_the_package_says_that_it_is_typed():
    """The wheel holds every file of the package: tests/workflow/test_wheel.py."""
    assert Path(bf.__file__).with_name("py.typed").is_file()
