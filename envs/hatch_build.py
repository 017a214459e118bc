"""Puts the workflow, whose only source is the repository's top level, into the wheel.

An editable installation gets no copy: workflow/packaged_files.py finds the top level itself.
"""

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
            build_data["force_include"] |= {f"{self.root}/{path}": f"{PLACE}/{path}" for path in PATHS}
