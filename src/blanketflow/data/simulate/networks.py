"""The networks that `simulate:<name>` knows. Their numbers are made up; their blankets are exact."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from ...core.errors import ConfigError, did_you_mean
from ...core.table import Table
from .clinic import CLINIC
from .discrete import DiscreteNetwork
from .gaussian import LinearGaussianNetwork
from .greenhouse import GREENHOUSE


@dataclass(frozen=True)
class Simulated:
    """A network and the node that is its target by default."""

    network: DiscreteNetwork | LinearGaussianNetwork
    target: str


NETWORKS = MappingProxyType(
    {
        "clinic": Simulated(CLINIC, "pneumonia"),
        "greenhouse": Simulated(GREENHOUSE, "growth"),
    }
)


def simulate(
    name: str, rows: int, seed: int, target: str | None = None, where: str = "simulate"
) -> tuple[Table, str, dict[str, list[str]]]:
    """Draw rows from a network.

    Parameters
    ----------
    name : str
        The network.
    rows : int
        How many rows.
    seed : int
        The same seed gives the same rows.
    target : str, optional
        A node; the network's own target by default.
    where : str
        The data set, for messages.

    Returns
    -------
    table : Table
        All nodes, the target among them.
    target : str
        Its name.
    truth : dict of str to list of str
        Its `parents`, `children`, `spouses` and `blanket`.

    Raises
    ------
    ConfigError
        If the network or the node is unknown.

    Examples
    --------
    >>> table, target, truth = simulate("greenhouse", 100, seed=1)
    >>> target, truth["spouses"]
    ('growth', ['nitrogen', 'wind'])
    """
    known = _known(name, target, where)
    return known.network.sample(rows, seed), known.target, known.network.dag().markov_blanket(known.target)


def truth_of(name: str, target: str | None = None, where: str = "simulate") -> dict[str, list[str]]:
    """Return a target's true neighbourhood without drawing any row; raises as `simulate` does."""
    known = _known(name, target, where)
    return known.network.dag().markov_blanket(known.target)


def _known(name: str, target: str | None, where: str) -> Simulated:
    if name not in NETWORKS:
        raise ConfigError(f"{where}: there is no network {name!r} to simulate. {did_you_mean(name, NETWORKS)}")
    known = NETWORKS[name]
    if target is None:
        return known
    if target not in known.network.nodes:
        hint = did_you_mean(target, known.network.nodes)
        raise ConfigError(f"{where}: the network {name} has no node {target!r} to be the target. {hint}")
    return Simulated(known.network, target)
