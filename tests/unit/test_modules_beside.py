"""A plug-in that lies beside the config is found, and nothing else in that folder is ever imported."""

import subprocess
import sys

import pytest

from blanketflow.cli import main
from blanketflow.config.file import read_config_file
from blanketflow.core import registry
from blanketflow.core.errors import ConfigError
from blanketflow.core.registry import import_name

PLUG_IN = """
from dataclasses import dataclass
from blanketflow.plugins import Card, Method, Step

@dataclass
class Strongest(Method):
    card = Card("strongest", "the strongest", "filter", "Keeps the feature of least p.", "unpublished")

    def grow(self, problem):
        return [Step(problem.features[int(problem.marginal.log_p.argmin())])]

    def shrink(self, problem, candidates):
        return candidates
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A config with modules beside it; what was found is forgotten at the end."""
    for variable in (registry.FOLDERS, registry.MODULES):
        monkeypatch.setenv(variable, "")
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "plug_in_beside.py").write_text(PLUG_IN)
    (tmp_path / "numpy.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "needs_another.py").write_text("import plug_in_that_was_not_named\n\n\nclass Mine: ...\n")
    (tmp_path / "plug_in_that_was_not_named.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "c.yaml").write_text("datasets: {}")
    yield tmp_path
    for name in ("plug_in_beside", "needs_another"):
        sys.modules.pop(name, None)
    assert not (tmp_path / "ran").exists()


def test_a_module_beside_a_config_that_was_read_is_found(folder):
    with pytest.raises(ConfigError, match=r"No module named 'plug_in_beside'.* put module\.py beside the config"):
        import_name("plug_in_beside:Strongest")
    read_config_file(folder / "c.yaml")
    assert import_name("plug_in_beside:Strongest").card.id == "strongest"
    assert import_name("numpy:ndarray").__module__ == "numpy"


def test_what_the_module_wants_of_its_folder_is_not_imported(folder):
    registry.look_in(folder)
    with pytest.raises(ConfigError, match="No module named 'plug_in_that_was_not_named'"):
        import_name("needs_another:Mine")


def test_select_finds_it_in_the_current_folder(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    arguments = ["sklearn:wine", "--method", "plug_in_beside:Strongest", "--ci-test", "fisher-z"]
    assert main(["select", *arguments]) == 1  # three classes, so it was imported
    assert "'target' is categorical with 3 levels" in capsys.readouterr().err


def test_a_process_of_joblib_finds_it_as_soon_as_anything_of_ours_is_imported(folder):
    registry.look_in(folder)
    import_name("plug_in_beside:Strongest")
    program = "import blanketflow.core.registry, plug_in_beside; print(plug_in_beside.__name__)"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "plug_in_beside\n"
