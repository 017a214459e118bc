"""Which config a command takes when none is named, and a config that is named without its option."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import ConfigError, shown
from .terminal import note


def config_here(folder: Path = Path()) -> Path:
    """Return the config of a folder; say which one it is if its name does not.

    Raises
    ------
    ConfigError
        If there is none, or several and none is called config.yaml.
    """
    usual = folder / "config.yaml"
    if usual.is_file():
        return usual
    found = sorted(path for path in folder.glob("*.yaml") if _is_config(path))
    if not found:
        where = "this folder" if folder == Path() else shown(str(folder))
        raise ConfigError(
            f"there is no config.yaml in {where}. Write a config with blanketflow init data.csv --target y; "
            "blanketflow run then takes it."
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ConfigError(f"there are several configs and no config.yaml: {names}. Name one: --configfile {found[0]}.")
    note(f"The config is {found[0]}.")
    return found[0]


def check_is_no_config(word: str) -> None:
    """Raise `ConfigError` if a word that Snakemake takes for an output to make names a config, or a folder of one."""
    if word.endswith((".yaml", ".yml")) and _is_config(Path(word)):
        option = "--configfile"
    elif word and any(map(_is_config, Path(word).glob("*.yaml"))):
        option = "--directory"
    else:
        return
    raise ConfigError(f"{shown(word)} is not an output of the workflow. Write {option} before it.")


def _is_config(path: Path) -> bool:
    """Whether a file looks like a config; reading it will say what is wrong with it."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith(("datasets:", '"datasets":')) for line in lines)
