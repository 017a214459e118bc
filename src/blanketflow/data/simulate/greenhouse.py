"""``greenhouse``: a made-up linear Gaussian network of plants, 15 nodes.

The blanket of ``growth``: its parents temperature and salinity, its children leaf_area and height, its spouses
nitrogen and wind. Sunlight, irrigation, humidity, fertiliser, transpiration and fruit_mass are relatives outside the
blanket; co2 and acidity are irrelevant.
"""

from __future__ import annotations

from .gaussian import GaussianNode, LinearGaussianNetwork

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
