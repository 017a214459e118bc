"""Plugins that a run needs: Snakemake names a missing one as an invalid choice, without saying what to install."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError

#: Executors without a plugin.
_OWN_EXECUTORS = ("local", "dryrun", "touch")
#: Extras of this package that bring a plugin.
_EXTRAS = {"slurm": "blanketflow[slurm]"}
#: Files of a profile: those for later versions of Snakemake go first.
_PROFILE_FILE = re.compile(r"(?:profile|config)(?:\.v(\d+)\+)?\.yaml")


def check_executor(executor: str, where: str = "") -> None:
    """Raise `ConfigError` with what to install if the plugin of an executor is missing."""
    if executor in _OWN_EXECUTORS or find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}"):
        return
    package = _EXTRAS.get(executor)
    install = f"'{package}'" if package else f"snakemake-executor-plugin-{executor}"
    raise ConfigError(
        f"the executor {executor!r}{where and f' of {where}'} needs a plugin of Snakemake that is not installed. "
        f"Install it: pip install {install}"
    )


def executor_of(profiles: Sequence[Path]) -> tuple[str, str]:
    """Return the executor that profiles set, and the file that sets it; empty if none does."""
    for profile in profiles:
        for file in _files(profile):
            executor = _settings(file).get("executor")
            if isinstance(executor, str):
                return executor, str(file)
    return "", ""


def _files(profile: Path) -> Iterator[Path]:
    """Yield the file of a profile that Snakemake reads."""
    if profile.is_file():
        yield profile
    elif profile.is_dir():
        named = {path: match for path in profile.iterdir() if (match := _PROFILE_FILE.fullmatch(path.name))}
        yield from sorted(named, key=lambda path: -int(named[path][1] or 0))[:1]


def _settings(file: Path) -> dict[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}  # Snakemake says what is wrong with it
    return read if isinstance(read, dict) else {}
