"""Seeds derived from identities, so that results depend neither on the order of work nor on the number of cores."""

from __future__ import annotations

import hashlib
import numbers
from typing import TYPE_CHECKING, Any

from .errors import ParameterError

if TYPE_CHECKING:
    import numpy as np

#: Default seed.
DEFAULT_SEED = 2026


def derive_seed(*identity: str | int) -> int:
    """Return the seed of an identity such as ``(2026, "wdbc", "cv-1", "1of5", "ci_test")``.

    Parameters
    ----------
    *identity : str or int
        Parts of the identity, outermost first. Different identities give unrelated seeds.

    Returns
    -------
    int
        In ``0 .. 2**63 - 1``, the same on every machine and version.

    Examples
    --------
    >>> derive_seed(2026, "wdbc", "cv-1") == derive_seed(2026, "wdbc", "cv-1")
    True
    >>> derive_seed("a", "bc") == derive_seed("ab", "c")
    False
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in identity)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def derive_rng(*identity: str | int) -> np.random.Generator:
    """Return a generator seeded by :func:`derive_seed`."""
    import numpy as np  # the command line starts without it

    return np.random.default_rng(derive_seed(*identity))


def seed_32(*identity: str | int) -> int:
    """Return a derived seed below 2**31, for scikit-learn's ``random_state``."""
    return derive_seed(*identity) & 0x7FFFFFFF


def seed_of(random_state: Any) -> int:
    """Return an integer unchanged, or draw one from a RandomState or, for None, the system; else `ParameterError`.

    >>> import numpy as np
    >>> seed_of(7), seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    (7, True)
    """
    import numpy as np

    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    raise ParameterError(f"random_state is {random_state!r}, but must be a whole number, None or RandomState.")
