"""Data sets drawn from networks: from the made-up ones that `simulate:<name>` knows, and from network files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...core.errors import ConfigError, did_you_mean
from ...core.table import Table
from . import corral, regression
from .clinic import CLINIC
from .files import read_network
from .greenhouse import GREENHOUSE
from .near_parity import TARGET, near_parity
from .network import Network


@dataclass(frozen=True)
class Simulated:
    """A network and the node that is the target."""

    network: Network
    target: str

    def truth(self) -> dict[str, list[str]]:
        """Return the target's true neighbourhood."""
        return self.network.dag().markov_blanket(self.target)


NETWORKS = MappingProxyType(
    {
        "clinic": Simulated(CLINIC, "pneumonia"),
        "greenhouse": Simulated(GREENHOUSE, "growth"),
        "near-parity": Simulated(near_parity(), TARGET),  # 50 variables, 10 % noise
        **{f"near-parity-{n}": Simulated(near_parity(n), TARGET) for n in (10, 20, 30, 75, 100)},
        **{f"near-parity-noise-{p}": Simulated(near_parity(noise=p / 100), TARGET) for p in (0, 20, 30, 40)},
        "corral-7": Simulated(corral.corral(), corral.TARGET),
        "corral-46": Simulated(corral.corral(14, None, corral.COPIES), corral.TARGET),
        "corral-rel-7": Simulated(corral.corral(pair_match=corral.RELATED, name="corral-rel"), corral.TARGET),
        "corral-rel-46": Simulated(
            corral.corral(14, None, corral.COPIES, corral.RELATED, name="corral-rel"), corral.TARGET
        ),
        "regression-22": Simulated(regression.regression(20), regression.TARGET),
        "regression-38": Simulated(regression.regression(20, regression.COPIES), regression.TARGET),
        "regression-138": Simulated(regression.regression(120, regression.COPIES), regression.TARGET),
    }
)


def simulate(
    name: str | Path, rows: int, seed: int, target: str | None = None, where: str = "simulate"
) -> tuple[Table, str, dict[str, list[str]]]:
    """Draw rows from a network.

    Parameters
    ----------
    name : str or Path
        One of `NETWORKS`, or a network's file.
    rows : int
        How many rows.
    seed : int
        The same seed gives the same rows.
    target : str, optional
        A node; by default the network's own target, which a file does not have.
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
        If the network or the node is unknown, or a file's target is not given.
    DataError
        If a file cannot be read.

    Examples
    --------
    >>> table, target, truth = simulate("greenhouse", 100, seed=1)
    >>> target, truth["spouses"]
    ('growth', ['nitrogen', 'wind'])
    """
    known = simulated(name, target, where)
    return known.network.sample(rows, seed), known.target, known.truth()


def truth_of(name: str | Path, target: str | None = None, where: str = "simulate") -> dict[str, list[str]]:
    """Return a target's true neighbourhood without drawing any row; raises as `simulate` does."""
    return simulated(name, target, where).truth()


def simulated(name: str | Path, target: str | None = None, where: str = "simulate") -> Simulated:
    """Return a network and its target without drawing any row; parameters and errors as for `simulate`."""
    if isinstance(name, Path):
        network, default = read_network(name, where), None
    else:
        network, default = known_network(name, where), NETWORKS[name].target
    if not (target or default):
        nodes = did_you_mean("", network.nodes)
        raise ConfigError(f"{where}: set target to a node of the network {network.name}. {nodes}")
    if target and target not in network.nodes:
        hint = did_you_mean(target, network.nodes)
        raise ConfigError(f"{where}: the network {network.name} has no node {target!r} to be the target. {hint}")
    return Simulated(network, target or default)


def known_network(name: str, where: str = "simulate") -> Network:
    """Return one of `NETWORKS`, or raise `ConfigError`."""
    if name not in NETWORKS:
        raise ConfigError(f"{where}: there is no network {name!r} to simulate. {did_you_mean(name, NETWORKS)}")
    return NETWORKS[name].network
