"""Which config a command takes when none is named: config.yaml, or the only config in the folder."""

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


def _is_config(path: Path) -> bool:
    """Whether a file looks like a config; reading it will say what is wrong with it."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith(("datasets:", '"datasets":')) for line in lines)
