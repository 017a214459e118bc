"""Puts the workflow and the documentation, whose only source is the repository's top level, into the wheel.

An editable installation gets no copy: workflow/packaged_files.py finds the top level itself.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Files and folders of the repository, and where a wheel holds them.
PATHS = ("Snakefile", "rules", "scripts", "profiles", "config/config.yaml", "envs/plan.yaml", "envs/blanketflow.yaml")
PATHS += ("CITATION.cff",)  # for `blanketflow export`
PLACE = "blanketflow/workflow/packaged"


class Workflow(BuildHookInterface):
    """Adds files to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the workflow's; `version` is what kind of wheel is built."""
        if version != "editable":
            root = Path(self.root)
            made = set((root / ".gitignore").read_text(encoding="utf-8").splitlines())
            pages = [path.relative_to(root).as_posix() for path in (root / "docs").glob("**/*.md")]
            pages = [page for page in pages if not any(f"/{page}".startswith(path) for path in made if path[:1] == "/")]
            build_data["force_include"] |= {f"{root}/{path}": f"{PLACE}/{path}" for path in (*PATHS, *pages)}
