"""Folders of results that are refused because they have another purpose; those of tests/bad_input.yaml are there."""

from pathlib import Path

import pytest

from blanketflow.core.errors import ConfigError
from blanketflow.workflow import output_folder
from blanketflow.workflow.output_folder import check_folder


def test_the_home_folder_itself_is_refused_and_a_folder_in_it_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"your home folder itself\. Name one of your own, such as results\.$"):
        check_folder(str(tmp_path))
    check_folder(str(tmp_path / "results"))


def test_the_code_of_the_package_is_refused():
    with pytest.raises(ConfigError, match="the code of blanketflow"):
        check_folder(str(Path(output_folder.__file__).parent / "results"))


@pytest.mark.parametrize(
    "folder",
    ["/", "/etc", "/etc/study", "/usr/local/results", "/proc/self", "/dev", "/var", "/tmp", "/home", "/mnt", "/lib/x"],
)
def test_folders_of_the_system_are_refused(folder):
    with pytest.raises(ConfigError, match="a folder of the system"):
        check_folder(folder)


@pytest.mark.parametrize(
    "folder", ["/tmp/x", "/home/me/results", "/mnt/disk/results", "/results", "/scratch", "/var/x"]
)
def test_ordinary_folders_are_not(folder):
    check_folder(folder)


def test_a_folder_with_other_files_or_results_is_not(tmp_path):
    (tmp_path / "mine").write_text("")
    (tmp_path / "tables").mkdir()
    check_folder(str(tmp_path))
