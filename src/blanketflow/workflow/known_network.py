"""The network behind the data, for tests that know the truth and methods that know the law of the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..selectors.base import Method
from .identity import source_digests


def wants_network(options: Mapping[str, Any]) -> bool:
    """Whether a test or a method that needs a network was configured without it.

    Examples
    --------
    >>> wants_network({"network": None, "arcs": None}), wants_network({"network": None, "law": "gaussian"})
    (True, False)
    """
    is_asked = "network" in options and options.get("law", "network") == "network"
    return is_asked and options["network"] is None and options.get("arcs") is None


def network_of(method: Method, source: str | None) -> dict[str, Any]:
    """Return the option `network` of a method that needs one and has none: the source of its data set."""
    return {"network": source} if wants_network(method.options()) else {}


def network_file(method: Method) -> dict[str, list[str]]:
    """Return the digest of the file of the network that a method names, nothing if it names none."""
    from ..data.sources import source_files

    named = method.options().get("network")
    return (
        {"network_file": source_digests(source_files("network", {"source": named}))} if isinstance(named, str) else {}
    )
