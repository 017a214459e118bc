"""Tables from structural equations whose Markov blankets are known.

Nodes are in a random order. Each has parents among the earlier ones, and is a function of them plus noise. Functions
and noise belong to the family of a task. The target is a numeric node with parents and children.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from blanketflow.core.seeds import derive_rng

FAMILIES = ("linear", "tanh", "sine", "quadratic", "steps", "mixed")
NOISES = ("gaussian", "heavy")
#: Columns and rows of the tasks. Each pair has one task of each family, kind of noise and graph.
SHAPES = ((40, 300), (40, 1000), (100, 300), (100, 1000), (300, 1000), (1000, 300), (1000, 1000), (1000, 5000))
#: Parents and children of a node in the mean; "hubs": as 3, but a few nodes have most children.
GRAPHS = ("2", "4", "6", "hubs")
#: Shapes of few tasks, as they take long: a task of each family.
LARGE = ((10_000, 500),)
#: Number of tasks.
N_TASKS = 240
#: Rows that no method sees, on which models are scored.
N_FRESH = 5000
#: Members of the target's blanket: fewest and most.
BLANKET = (3, 25)
#: The share of a node's variance that its parents explain is drawn from this range.
EXPLAINED = (0.5, 0.8)
#: Share of the nodes of mixed tables that are labels.
LABELS = 0.3


@dataclass(frozen=True)
class Task:
    """A table to draw: its family, noise, graph, columns and rows."""

    family: str
    noise: str
    graph: str
    n_columns: int
    n_rows: int

    @property
    def id(self) -> str:
        """The name, from which its seed derives."""
        return f"{self.family}-{self.noise}-{self.graph}-{self.n_columns}x{self.n_rows}"

    @property
    def is_held_back(self) -> bool:
        """Whether the task is one of the third that nothing was tuned on."""
        return int(_hash(self), 16) % 3 == 0


@dataclass(frozen=True)
class Drawn:
    """A table with its blanket.

    Attributes
    ----------
    X, y : DataFrame, Series
        The rows that methods see.
    fresh_X, fresh_y : DataFrame, Series
        Rows to score models on.
    blanket : tuple of str
        Parents, children and spouses of the target.
    """

    X: pd.DataFrame
    y: pd.Series
    fresh_X: pd.DataFrame
    fresh_y: pd.Series
    blanket: tuple[str, ...]


def tasks() -> list[Task]:
    """Return all 240 tasks: each family, graph and shape once, with either noise in turn, large ones, and more.

    They are in the order of a hash, so that the first of them are a random sample.
    """
    every = list(itertools.product(FAMILIES, GRAPHS, SHAPES))
    found = [
        Task(family, NOISES[(i // len(SHAPES) + i) % 2], graph, *shape)
        for i, (family, graph, shape) in enumerate(every)
    ]
    found += [Task(family, "heavy", "4", *shape) for family in FAMILIES for shape in LARGE]
    both = {Task(family, noise, graph, *shape) for family, graph, shape in every for noise in NOISES}
    more = sorted(both.difference(found), key=_hash)
    return sorted([*found, *more[: N_TASKS - len(found)]], key=_hash)


def _hash(task: Task) -> str:
    return hashlib.blake2b(task.id.encode(), digest_size=4).hexdigest()


def draw(task: Task) -> Drawn:
    """Return the table of a task, always the same."""
    rng = derive_rng("structural equations", task.id)
    n_nodes, n = task.n_columns + 1, task.n_rows + N_FRESH
    parents = _graph(rng, n_nodes, task.graph)
    is_label = rng.random(n_nodes) < LABELS if task.family == "mixed" else np.zeros(n_nodes, dtype=bool)
    target = _target(rng, parents, is_label)
    values = np.empty((n_nodes, n))
    for node in range(n_nodes):
        values[node] = _drawn(rng, task, values[parents[node]], n)
        if is_label[node]:
            values[node] = _levels(rng, values[node])
    blanket = blanket_of(parents, target)
    names = np.array([f"x{i}" for i in rng.permutation(n_nodes)])
    order = [node for node in np.argsort([int(name[1:]) for name in names]) if node != target]
    table = pd.DataFrame({names[node]: values[node] for node in order})
    for node in order:
        if is_label[node]:
            table[names[node]] = pd.Categorical(np.array(list("abcd"))[values[node].astype(int)])
    y = pd.Series(values[target], name="y")
    k = task.n_rows
    return Drawn(
        table[:k],
        y[:k],
        table[k:].reset_index(drop=True),
        y[k:].reset_index(drop=True),
        tuple(sorted((names[node] for node in blanket), key=lambda name: int(name[1:]))),
    )


def blanket_of(parents: list[np.ndarray], target: int) -> set[int]:
    """Return the parents, the children and the children's other parents of a node."""
    children = [node for node, of in enumerate(parents) if target in of]
    found = {*parents[target].tolist(), *children, *(int(p) for child in children for p in parents[child])}
    return found - {target}


def _graph(rng: np.random.Generator, n_nodes: int, graph: str) -> list[np.ndarray]:
    """Return the parents of each node, all before it."""
    degree = 3.0 if graph == "hubs" else float(graph)
    weights = 1 / np.arange(1, n_nodes + 1) if graph == "hubs" else np.ones(n_nodes)
    weights = rng.permutation(weights)
    found = [np.empty(0, dtype=int)]
    for node in range(1, n_nodes):
        size = min(node, 8, int(rng.poisson(degree / 2)))
        share = weights[:node] / weights[:node].sum()
        found.append(np.sort(rng.choice(node, size, replace=False, p=share)))
    return found


def _target(rng: np.random.Generator, parents: list[np.ndarray], is_label: np.ndarray) -> int:
    """Return a numeric node with parents and children and a blanket of a usual size."""
    least, most = BLANKET
    has_children = np.zeros(len(parents), dtype=bool)
    for of in parents:
        has_children[of] = True
    for node in rng.permutation(len(parents)):
        may_be = len(parents[node]) and has_children[node] and not is_label[node]
        if may_be and least <= len(blanket_of(parents, int(node))) <= most:
            return int(node)
    raise ValueError(f"no node of {len(parents)} has a blanket of {least} to {most}")


def _drawn(rng: np.random.Generator, task: Task, given: np.ndarray, n: int) -> np.ndarray:
    """Return a node's values with mean 0 and variance 1, (n,)."""
    noise = rng.normal(size=n) if task.noise == "gaussian" else rng.standard_t(3, n) / np.sqrt(3)
    if not len(given):
        return noise
    family = rng.choice(FAMILIES[:-1]) if task.family == "mixed" else task.family
    of_parents = _standardised(_FUNCTIONS[family](rng, _standardised(given)))
    share = rng.uniform(*EXPLAINED)
    return _standardised(np.sqrt(share) * of_parents + np.sqrt(1 - share) * noise)


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=-1, keepdims=True)
    return (values - values.mean(axis=-1, keepdims=True)) / np.where(spread > 0, spread, 1.0)


def _weights(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return weights away from 0, of both signs."""
    return rng.uniform(0.5, 1.5, size) * rng.choice([-1.0, 1.0], size)


def _linear(rng: np.random.Generator, given: np.ndarray) -> np.ndarray:
    return _weights(rng, len(given)) @ given


def _bent(bend: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator, given: np.ndarray) -> np.ndarray:
    """Return the weighted sum of bent parents, each stretched and shifted."""
    stretch, shift = rng.uniform(1.0, 2.0, (len(given), 1)), rng.uniform(-0.5, 0.5, (len(given), 1))
    return _weights(rng, len(given)) @ _standardised(bend(stretch * given + shift))


def _quadratic(rng: np.random.Generator, given: np.ndarray) -> np.ndarray:
    """Return a sum of parents, their squares and products; beyond 3 standard deviations parents count as 3."""
    given = np.clip(given, -3.0, 3.0)
    found = _weights(rng, len(given)) @ given + 0.5 * _weights(rng, len(given)) @ given**2
    for i, j in itertools.combinations(range(len(given)), 2):
        found += rng.choice([0.0, 0.7]) * given[i] * given[j]
    return found


def _steps(rng: np.random.Generator, given: np.ndarray) -> np.ndarray:
    """Return a sum of trees of two levels, as boosting makes them; each parent is split first in three of them."""
    found = np.zeros(given.shape[1])
    for first in np.repeat(np.arange(len(given)), 3):
        second, at = rng.integers(len(given)), rng.normal(0, 0.8, 3)
        is_right = given[first] > at[0]
        is_above = given[second] > np.where(is_right, at[1], at[2])
        found += rng.normal(size=4)[2 * is_right + is_above] + rng.choice([-1.0, 1.0]) * is_right
    return found


def _levels(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Return codes of two to four levels, cut at random."""
    n_cuts = rng.integers(1, 4)
    return np.searchsorted(np.sort(rng.uniform(-1.2, 1.2, n_cuts)), values).astype(float)


_FUNCTIONS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "linear": _linear,
    "tanh": partial(_bent, np.tanh),
    "sine": partial(_bent, np.sin),
    "quadratic": _quadratic,
    "steps": _steps,
}
