"""The page of simulated sources: each network with its size, its target and the target's true blanket."""

from __future__ import annotations

from blanketflow.data.simulate import NETWORKS

from .markdown import facts, fenced


def simulated_page() -> str:
    """Return the page."""
    parts = [
        "# Simulated data",
        'Sources whose truth is known: `source: "simulate:<name>"`. The report then says how much of the true blanket '
        "each selector found. Rows are drawn anew for each data set's id, and `rows` says how many.",
        fenced('datasets:\n  clinic: {source: "simulate:clinic", rows: 1000}', "yaml"),
        '`source: "network:..."` draws rows from a published Bayesian network, or from one of your own '
        "([config keys](config.md)).",
    ]
    for name, known in NETWORKS.items():
        truth, nodes = known.truth(), known.network.nodes
        listed = {role: ", ".join(f"`{node}`" for node in truth[role]) for role in ("parents", "children", "spouses")}
        parts += [
            f"## {name}",
            facts(
                {
                    "Target": f"`{known.target}`",
                    "Features": str(len(nodes) - 1),
                    "Kind": type(known.network).__name__,
                    **{role.capitalize(): text for role, text in listed.items()},
                }
            ),
        ]
    return "\n\n".join(parts) + "\n"
