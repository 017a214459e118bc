"""Data sets drawn from networks: from the made-up ones that `simulate:<name>` knows, and from network files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...core.errors import ConfigError, did_you_mean
from ...core.table import Table
from . import corral, regression
from .near_parity import TARGET, near_parity
from .network import DiscreteNetwork, GaussianNode, LinearGaussianNetwork, Network, node
from .network_files import read_network

# A made-up network of patients with a cough. The blanket of pneumonia: its parents infection and smoking; its children
# xray, cough and fever; its spouses old_scar (of itself independent of pneumonia: it shows only given xray) and allergy
# (dependent through smoking). Season, occupation, antibiotics and absence are relatives outside the blanket; blood_type
# and ward are irrelevant.
CLINIC = DiscreteNetwork(
    "clinic",
    {
        "season": node(["summer", "autumn", "winter"], table=[0.40, 0.25, 0.35]),
        "blood_type": node(["0", "A", "AB", "B"], table=[0.42, 0.40, 0.05, 0.13]),
        "occupation": node(["office", "outdoors", "workshop", "none"], table=[0.35, 0.20, 0.25, 0.20]),
        "infection": node(
            ["no", "yes"],
            ["season"],
            table=[[0.80, 0.20], [0.60, 0.40], [0.30, 0.70]],  # summer, autumn, winter
        ),
        "smoking": node(
            ["never", "light", "heavy"],
            ["occupation"],
            table=[
                [0.75, 0.15, 0.10],  # office
                [0.50, 0.30, 0.20],  # outdoors
                [0.30, 0.30, 0.40],  # workshop
                [0.45, 0.20, 0.35],  # none
            ],
        ),
        "pneumonia": node(
            ["no", "yes"],
            ["infection", "smoking"],
            table=[
                [[0.95, 0.05], [0.85, 0.15], [0.65, 0.35]],  # no infection; never, light, heavy
                [[0.55, 0.45], [0.30, 0.70], [0.10, 0.90]],  # infection
            ],
        ),
        "old_scar": node(["no", "yes"], table=[0.65, 0.35]),
        "xray": node(
            ["clear", "shadow"],
            ["pneumonia", "old_scar"],
            table=[
                [[0.95, 0.05], [0.25, 0.75]],  # no pneumonia; no scar, scar
                [[0.20, 0.80], [0.02, 0.98]],  # pneumonia
            ],
        ),
        "allergy": node(
            ["no", "yes"],
            ["smoking"],
            table=[[0.80, 0.20], [0.65, 0.35], [0.40, 0.60]],  # never, light, heavy
        ),
        "cough": node(
            ["none", "dry", "productive"],
            ["pneumonia", "allergy"],
            table=[
                [[0.86, 0.08, 0.06], [0.12, 0.80, 0.08]],  # no pneumonia; no allergy, allergy
                [[0.08, 0.17, 0.75], [0.05, 0.20, 0.75]],  # pneumonia
            ],
        ),
        "fever": node(
            ["none", "mild", "high"],
            ["pneumonia"],
            table=[[0.80, 0.15, 0.05], [0.15, 0.35, 0.50]],
        ),
        "antibiotics": node(
            ["no", "yes"],
            ["fever"],
            table=[[0.92, 0.08], [0.60, 0.40], [0.12, 0.88]],  # none, mild, high
        ),
        "absence": node(
            ["days", "weeks", "none"],
            ["antibiotics"],
            table=[[0.25, 0.05, 0.70], [0.50, 0.40, 0.10]],
        ),
        "ward": node(["north", "south", "west"], table=[0.40, 0.35, 0.25]),
    },
)

# A made-up network of plants. The blanket of growth: its parents temperature and salinity; its children leaf_area and
# height; its spouses nitrogen and wind. Sunlight, irrigation, humidity, fertiliser, transpiration and fruit_mass are
# relatives outside the blanket; co2 and acidity are irrelevant.
GREENHOUSE = LinearGaussianNetwork(
    "greenhouse",
    {
        "sunlight": GaussianNode(8.0, 1.5),
        "co2": GaussianNode(420.0, 30.0),
        "irrigation": GaussianNode(5.0, 1.0),
        "fertiliser": GaussianNode(2.0, 0.5),
        "humidity": GaussianNode(85.0, 3.0, {"sunlight": -2.5}),
        "temperature": GaussianNode(10.0, 1.5, {"sunlight": 1.4}),
        "salinity": GaussianNode(9.0, 0.9, {"irrigation": -1.1}),
        "growth": GaussianNode(-5.0, 1.5, {"temperature": 0.8, "salinity": -1.2}),
        "nitrogen": GaussianNode(1.0, 0.8, {"fertiliser": 2.0}),
        "leaf_area": GaussianNode(4.0, 1.5, {"growth": 1.0, "nitrogen": 1.2}),
        "wind": GaussianNode(3.0, 1.0),
        "height": GaussianNode(30.0, 2.0, {"growth": 1.5, "wind": -1.8}),
        "transpiration": GaussianNode(0.5, 0.8, {"leaf_area": 0.5}),
        "fruit_mass": GaussianNode(20.0, 3.0, {"height": 1.3}),
        "acidity": GaussianNode(6.5, 0.4),
    },
)


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
    """Draw rows from one of `NETWORKS` or from the network in a file; equal seeds give equal rows.

    Returns the table of all nodes, the target's name, and its true `parents`, `children`, `spouses` and `blanket`. A
    file has no default target. Raises `ConfigError` if the network or node is unknown or a file's target is not given;
    `DataError` if a file cannot be read.

    >>> table, target, truth = simulate("greenhouse", 100, seed=1)
    >>> target, truth["spouses"]
    ('growth', ['nitrogen', 'wind'])
    """
    known = simulated(name, target, where)
    return known.network.sample(rows, seed), known.target, known.truth()


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
