"""Public docstrings are whole: everything that the API page shows, and every method, CI test and model."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import blanketflow as bf
from blanketflow.api.arguments import SHARED, sections
from blanketflow.core.registry import discover

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\.\. auto(function|class):: (\S+)\n(?: +:members: ([\w, ]+)\n)?", re.MULTILINE)


def named():
    """Return every function, class and method that the page names, by its dotted name."""
    found = {}
    for _, name, members in ENTRY.findall(TEXT):
        module, _, attribute = f"blanketflow.{name.removeprefix('blanketflow.')}".rpartition(".")
        found[name] = getattr(importlib.import_module(module), attribute)
        for member in filter(None, members.split(", ")):
            found[f"{name}.{member}"] = inspect.getattr_static(found[name], member)
    return {name: member for name, member in found.items() if not hasattr(member, "func")}  # no cached properties


PUBLIC = named()
REGISTERED = {
    f"{package}/{name}": found
    for package in ("selectors", "ci", "models")
    for name, found in discover(f"blanketflow.{package}").items()
}


def parameters(documented):
    """Return the names of what a caller gives."""
    try:
        names = inspect.signature(documented).parameters
    except ValueError:
        return []
    return [name for name in names if name not in ("self", "args", "kwargs")]


def listed(section):
    """Return the names that a section of a docstring explains."""
    heads = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip("*") for head in heads for name in head.partition(" : ")[0].split(", ")]


def test_the_page_names_the_public_functions():
    exported = {name for name in dir(bf) if not name.startswith("_") and inspect.isfunction(getattr(bf, name))}
    assert {"compare", "blankets", "get_ci_test"} <= exported <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_docstring_is_whole(name):
    documented = PUBLIC[name]
    text, parts = sections(documented)
    assert text.splitlines()[0].endswith((".", "?")), "a summary in one line"
    explained = listed(parts.get("Parameters", "")) + listed(parts.get("Attributes", ""))
    assert set(parameters(documented)) <= set(explained)
    if inspect.isfunction(documented):
        assert (
            inspect.signature(documented).return_annotation in ("None", inspect.Signature.empty) or "Returns" in parts
        )
        assert "raise " not in inspect.getsource(documented) or "Raises" in parts
    if not getattr(documented, "__isabstractmethod__", False):
        assert ">>>" in parts["Examples"]


@pytest.mark.parametrize("name", REGISTERED)
def test_a_registered_class_has_an_example_and_explains_its_options(name):
    found = REGISTERED[name]
    text, parts = sections(found)
    assert text.splitlines()[0].endswith((".", "?"))
    assert ">>>" in parts["Examples"]
    assert all(parameter.doc.endswith(".") for parameter in found.parameters().values())
    assert found.card.reference


@pytest.mark.parametrize("name", discover("blanketflow.selectors"))
def test_a_selector_class_explains_every_argument(name):
    estimator = type(bf.get_selector(name))
    text, parts = sections(estimator)
    assert listed(parts["Parameters"]) == parameters(estimator)
    assert set(SHARED) <= set(parameters(estimator))
    assert text == sections(REGISTERED[f"selectors/{name}"])[0]
    assert list(parts)[-1] == "Examples"
