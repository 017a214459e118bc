"""Finds calls in Python source that draw random numbers without a seed."""

import ast
import importlib
import inspect

#: Names of numpy.random that make something of a seed; everything else there draws from the global generator.
SEEDED = {"default_rng", "RandomState", "SeedSequence", "PCG64", "MT19937", "Philox", "Random"}
NAMES_ONLY = {"Generator", "BitGenerator"}
SEED_OPTIONS = {"random_state", "rng", "seed"}
#: What scikit-learn's estimators and splitters do at random only if told so: the option and its values that do.
AT_RANDOM_IF = {
    "LogisticRegression": ("solver", {"sag", "saga", "liblinear"}),
    "Ridge": ("solver", {"sag", "saga"}),
    "RidgeClassifier": ("solver", {"sag", "saga"}),
    "Lasso": ("selection", {"random"}),
    "LassoCV": ("selection", {"random"}),
    "ElasticNet": ("selection", {"random"}),
    "SVC": ("probability", {True}),
    "PCA": ("svd_solver", {"randomized", "arpack"}),
    "DummyClassifier": ("strategy", {"stratified", "uniform"}),
    "KFold": ("shuffle", {True}),
    "GroupKFold": ("shuffle", {True}),
    "StratifiedKFold": ("shuffle", {True}),
    "StratifiedGroupKFold": ("shuffle", {True}),
    "mutual_info_classif": ("discrete_features", {False, "auto"}),
}


def unseeded_calls(source):
    """Return (line, call) of each call that draws without a seed."""
    tree = ast.parse(source)
    names = _imported(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            path = _path(node.func, names)
            if path and _is_unseeded(node, path):
                found.append((node.lineno, path))
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "rvs" and not _has_seed(node):
                found.append((node.lineno, ".rvs"))
    return found


def _imported(tree):
    """Return the full names that a file's names stand for."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def _path(node, names):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _is_unseeded(call, path):
    *package, name = path.split(".")
    if package in (["random"], ["numpy", "random"]):
        if name in NAMES_ONLY:
            return False
        return name not in SEEDED or not (call.args or call.keywords) or _is_none((call.args or [None])[0])
    if package and package[0] in ("sklearn", "scipy", "lightgbm"):
        return _takes_seed(path) and not _has_seed(call) and _is_at_random(call, name)
    return False


def _takes_seed(path):
    module, _, name = path.rpartition(".")
    try:
        thing = getattr(importlib.import_module(module), name)
        return bool(SEED_OPTIONS & set(inspect.signature(thing).parameters))
    except (ImportError, AttributeError, TypeError, ValueError):
        return False


def _has_seed(call):
    return any(
        option.arg is None or (option.arg in SEED_OPTIONS and not _is_none(option.value)) for option in call.keywords
    )


def _is_at_random(call, name):
    if name not in AT_RANDOM_IF:
        return True
    wanted, values = AT_RANDOM_IF[name]
    given = [option.value for option in call.keywords if option.arg == wanted]
    return any(not isinstance(value, ast.Constant) or value.value in values for value in given)


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
