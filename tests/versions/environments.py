"""Virtual environments with the oldest and the newest versions that pyproject.toml allows, for every Python at hand."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-versions"
#: What results can depend on, and what the fingerprint imports.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "numba", "lightgbm", "psutil", "pyyaml")
#: The oldest versions with wheels for a Python that is younger than those which pyproject.toml allows.
FIRST_WHEELS = {
    "3.13": {"numpy": "2.1.0", "scipy": "1.14.1", "pandas": "2.2.3", "pyarrow": "18.0.0", "pyyaml": "6.0.2"},
    "3.14": {},
}

#: Processors that are not this one, by what a library is told to leave unused of it.
PROCESSORS = {
    "older-processor": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",  # numpy's exponentials and sums
        "OPENBLAS_CORETYPE": "Nehalem",  # products of matrices
        "NUMBA_CPU_NAME": "nehalem",  # kernels
        "NUMBA_CPU_FEATURES": "",
    }
}


def pythons() -> dict[str, str]:
    """Return a path for each minor version of Python at hand that pyproject.toml allows: on the PATH, or of pyenv."""
    oldest = int(re.search(r">=3\.(\d+)", _project()["requires-python"])[1])
    found = {}
    for minor in range(oldest, oldest + 10):
        name = f"python3.{minor}"
        of_pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"))
        path = str(of_pyenv[-1]) if of_pyenv else shutil.which(name)
        if path and subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            found[f"3.{minor}"] = path
    return found


def requirements(python: str, age: str) -> list[str]:
    """Return what pip installs for the ``oldest`` or ``newest`` allowed versions."""
    asked = []
    for line in _project()["dependencies"]:
        name, bound = re.match(r"([\w-]+)>=([\w.]+)", line).groups()
        if name in PACKAGES:
            asked.append(f"{name}=={FIRST_WHEELS.get(python, {}).get(name, bound)}" if age == "oldest" else line)
    return asked


def all_environments() -> Iterator[tuple[str, str, str]]:
    """Yield the name, the Python and the age of each."""
    for python in pythons():
        for age in ("oldest", "newest"):
            if age == "newest" or FIRST_WHEELS.get(python, True):
                yield f"{python}-{age}", python, age


def make(name: str, python: str, age: str) -> Path:
    """Return the interpreter of an environment, which is made anew if what it asks for has changed."""
    folder, asked = FOLDER / name, requirements(python, age)
    interpreter, mark = folder / "bin" / "python", folder / "asked.txt"
    if age == "newest" or not mark.exists() or mark.read_text().split("\n") != asked:
        if not interpreter.exists():
            subprocess.run([pythons()[python], "-m", "venv", str(folder)], check=True)
        install = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        subprocess.run([*install, "--only-binary", ":all:", *asked], check=True)
        mark.write_text("\n".join(asked))
    return interpreter


def variables(name: str) -> dict[str, str]:
    """Return the environment variables that a fingerprint is made under."""
    # Kernels call each other across files, and numba looks at each one's own file only to see whether its cache holds.
    kernels = b"".join(path.read_bytes() for path in sorted((ROOT / "src/blanketflow/kernels").glob("*.py")))
    cache = FOLDER / name / f"kernels-{hashlib.sha256(kernels).hexdigest()[:12]}"
    own = {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
    return {**os.environ, **own, **PROCESSORS.get(name, {})}


def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
