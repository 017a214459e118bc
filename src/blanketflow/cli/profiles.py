"""Which profile of Snakemake a name means: one that Snakemake finds, one of this folder, or a packaged one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import ConfigError
from ..workflow.packaged_files import workflow_file

#: Folders in which Snakemake finds a profile by its name, beside the current one: the user's and the machine's.
_PROFILES = ("~/.config/snakemake", "~/Library/Application Support/snakemake", "/etc/xdg/snakemake")


def with_profiles(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the path of a profile in place of its name: one in profiles/ here, else a packaged one.

    What Snakemake finds by itself is left alone.
    """
    found, is_profile = [], False
    for word in arguments:
        option, equals, name = word.partition("=")
        if option == "--profile" and equals:
            found.append(f"--profile={_profile(name)}")
            continue
        found.append(_profile(word) if is_profile and not word.startswith("-") else word)
        is_profile = word == "--profile" or (is_profile and not word.startswith("-"))
    return found


def _profile(name: str) -> str:
    own = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "snakemake")
    known = [Path(name), *(Path(folder, name).expanduser() for folder in (own, *_PROFILES))]
    if "/" in name or name == "none" or any(path.exists() for path in known):
        return name
    here = Path("profiles", name)
    if here.is_dir():
        return str(here)
    try:
        return workflow_file(f"profiles/{name}")
    except ConfigError:
        return name  # Snakemake says what it looked for
