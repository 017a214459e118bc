"""The page of simulated sources: each network with its size, its target and the target's true blanket."""

from __future__ import annotations

from blanketflow.data.simulate import NETWORKS

from .markdown import fenced, table


def simulated_page() -> str:
    """Return the page."""
    parts = [
        "# Simulated data",
        'Sources with a known Markov blanket: `source: "simulate:<name>"`. `rows` sets the number of rows. The report '
        "shows how much of the true blanket each selector found.",
        fenced('datasets:\n  clinic: {source: "simulate:clinic", rows: 1000}', "yaml"),
        "The id of a data set determines its random rows, so ten entries are ten samples. With `test_rows` and "
        "`splits: {evaluation: 1}` each has its own test rows.",
        '`source: "network:alarm"` draws rows from a published Bayesian network of the package pgmpy '
        '(`pip install "blanketflow[networks]"`), and `source: "network:nets/mine.bif"` from your own file: BIF, or '
        "JSON for Gaussian and mixed networks ([configuration keys](config.md)). [Papers "
        "repeated](../studies/papers/README.md) uses such networks.",
    ]
    rows = []
    for name, known in NETWORKS.items():
        truth = known.truth()
        related = [", ".join(f"`{node}`" for node in truth[role]) for role in ("parents", "children", "spouses")]
        kind, n_features = type(known.network).__name__, len(known.network.nodes) - 1
        rows.append((f"`{name}`", f"`{known.target}`", str(n_features), kind, *related))
    parts.append(table(["name", "target", "features", "kind", "parents", "children", "spouses"], rows))
    return "\n\n".join(parts) + "\n"
