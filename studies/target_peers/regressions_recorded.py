"""Records likelihood ratios of R and statsmodels on small tables, for tests/unit/test_target_peers.py.

Needs ``Rscript`` with the packages survival and MASS, and statsmodels. Run it from the repository:
``python -m studies.target_peers.regressions_recorded``. It writes regressions_recorded.json beside itself, with the
tables, and the ratios of README.md.
"""

from __future__ import annotations

import csv
import json
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from studies.shared.page import row, write

HERE = Path(__file__).parent
N = 120
Columns = dict[str, list[float]]


def tables() -> dict[str, Columns]:
    """Return the tables: x1 is given, x2 and x3 are added."""
    rng = np.random.default_rng(156)
    X = rng.normal(size=(3, N)).round(3)
    score = 0.7 * X[0] - 0.4 * X[1]
    died, left = rng.exponential(np.exp(-score)), rng.exponential(1.5, size=N)
    time, event = np.minimum(died, left).round(5) + 1e-5, (died <= left).astype(float)
    tied = np.ceil(4 * time)
    exposure = rng.uniform(0.5, 2.0, N).round(3)
    mean = exposure * np.exp(1 + score)
    counts = rng.poisson(exposure * np.exp(1 + 0.5 * X[0] - 0.1 * X[1]))
    varied = rng.poisson(mean * rng.gamma(1.0, 1.0, N))
    large = rng.poisson(2000 * mean * rng.gamma(2.0, 0.5, N))
    costs = (np.exp(1 + score) * rng.gamma(0.8, 1.0, N)).round(4) + 1e-4
    middle = 1 / (1 + np.exp(-score))
    shares = rng.beta(4 * middle, 4 * (1 - middle)).round(4)
    shares[:4] = [0.0, 1.0, 0.0, 1.0]
    grades = np.searchsorted([-1.5, 0.0, 1.0], score + rng.logistic(size=N))
    more = np.random.default_rng(157)
    strata, early = more.integers(0, 7, N), more.random(N)
    plain = {
        "survival": {"time": time, "event": event},
        "tied": {"time": tied, "event": event},
        "late": {"time": time, "event": event, "entry": (0.6 * time * rng.random(N)).round(6)},
        "late-tied": {"time": tied, "event": event, "entry": np.floor(tied * rng.random(N))},
        "strata": {"time": tied, "event": event, "strata": strata},
        "strata-late": {"time": time, "event": event, "entry": (0.6 * time * early).round(6), "strata": strata},
        "poisson": {"y": counts, "exposure": exposure},
        "negative-binomial": {"y": varied, "exposure": exposure},
        "large-counts": {"y": large, "exposure": exposure},
        "gamma": {"y": costs},
        "share": {"y": shares},
        "ordered": {"y": grades},
    }
    x = {f"x{j + 1}": X[j] for j in range(3)}
    return {
        name: {key: np.asarray(cells, dtype=float).tolist() for key, cells in {**own, **x}.items()}
        for name, own in plain.items()
    }


def clusters() -> list[int]:
    """Return the clusters of the rows of every table."""
    return np.random.default_rng(158).integers(0, 30, N).tolist()


Slopes = dict[str, dict[str, list[float]]]
Tests = dict[str, dict[str, float]]
Robust, Errors = list[dict[str, str | float]], dict[str, list[float]]


def by_r(
    found: dict[str, Columns],
) -> tuple[list[dict[str, object]], dict[str, list[float]], Slopes, Tests, Robust, Errors, list[str]]:
    """Return R's fits, martingale residuals of null models, slopes with errors, cox.zph, robust tests and errors."""
    with TemporaryDirectory() as folder:
        for name, columns in found.items():
            with open(Path(folder, f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
        Path(folder, "clusters.csv").write_text("\n".join(["cluster", *map(str, clusters())]), encoding="utf-8")
        run = subprocess.run(
            ["Rscript", HERE / "regressions.R", folder], check=True, capture_output=True, encoding="utf-8"
        )
        residuals = {}
        for path in sorted(Path(folder).glob("*-residuals.csv")):
            with open(path, encoding="utf-8") as file:
                residuals[path.stem.removesuffix("-residuals")] = [float(row["r"]) for row in csv.DictReader(file)]
        slopes: Slopes = {}
        with open(Path(folder, "slopes.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                slopes.setdefault(row["table"], {})[row["x"]] = [float(row["slope"]), float(row["error"])]
        tests = {}
        for path in sorted(Path(folder).glob("*-zph.csv")):
            with open(path, encoding="utf-8") as file:
                tests[path.stem.removesuffix("-zph")] = {r["term"]: float(r["chisq"]) for r in csv.DictReader(file)}
        errors = {}
        for path in sorted(Path(folder).glob("*-robust.csv")):
            with open(path, encoding="utf-8") as file:
                errors[path.stem.removesuffix("-robust")] = [float(row["error"]) for row in csv.DictReader(file)]
        with open(Path(folder, "robust.csv"), encoding="utf-8") as file:
            robust: Robust = [
                {"table": row["table"], "peer": f"R {row['test']}", "statistic": float(row["statistic"])}
                for row in csv.DictReader(file)
            ]
        with open(Path(folder, "found.csv"), encoding="utf-8") as file:
            fits: list[dict[str, object]] = [
                {
                    "table": row["table"],
                    "peer": f"R {row['fit']}",
                    "ratio": float(row["ratio"]),
                    "dispersion_z": None if row["extra"] == "NA" else float(row["extra"]),
                }
                for row in csv.DictReader(file)
            ]
    return fits, residuals, slopes, tests, robust, errors, run.stdout.splitlines()[-3:]


def by_statsmodels(found: dict[str, Columns]) -> list[dict[str, object]]:
    """Return the fits of statsmodels."""
    import statsmodels.api as sm
    from statsmodels.duration.hazard_regression import PHReg
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    fits = []
    for name, columns in found.items():
        table = {key: np.array(cells) for key, cells in columns.items()}
        X = np.column_stack([table["x1"], table["x2"], table["x3"]])
        reached = []
        for design in (X[:, :1], X):
            if "time" in table and name != "late-tied":  # PHReg has rows at risk at the very time of their entry
                parts = {"status": table["event"], "entry": table.get("entry"), "strata": table.get("strata")}
                model = PHReg(table["time"], design, **parts, ties="efron")
                reached.append(model.fit(disp=0).llf)
            elif name == "poisson":
                model = sm.Poisson(table["y"], sm.add_constant(design), exposure=table["exposure"])
                reached.append(model.fit(method="newton", tol=1e-14, maxiter=200, disp=0).llf)
            elif name == "negative-binomial":
                model = sm.NegativeBinomial(table["y"], sm.add_constant(design), exposure=table["exposure"])
                reached.append(model.fit(method="bfgs", gtol=1e-9, maxiter=2000, disp=0).llf)
            elif name == "ordered":
                model = OrderedModel(table["y"].astype(int), design, distr="logit")
                reached.append(model.fit(method="bfgs", gtol=1e-9, maxiter=2000, disp=0).llf)
        if reached:
            peer = f"statsmodels {type(model).__name__}"
            fits.append({"table": name, "peer": peer, "ratio": 2 * (reached[1] - reached[0]), "dispersion_z": None})
    return fits


def robust_by_statsmodels(found: dict[str, Columns]) -> tuple[Robust, Errors]:
    """Return the robust score tests of x2 and x3 given x1, and the errors of all three.

    By generalised estimating equations for independent rows.
    """
    import statsmodels.api as sm
    from statsmodels.genmod.generalized_estimating_equations import GEEResults

    tests: Robust = []
    errors: Errors = {}
    families = {
        "poisson": sm.families.Poisson(),
        "gamma": sm.families.Gamma(sm.families.links.Log()),
        "share": sm.families.Binomial(),
    }
    for name in ("poisson", "negative-binomial", "gamma", "share"):
        table = {key: np.array(cells) for key, cells in found[name].items()}
        X = sm.add_constant(np.column_stack([table["x1"], table["x2"], table["x3"]]))
        offset = np.log(table["exposure"]) if "exposure" in table else None

        def fit(design: np.ndarray, of: np.ndarray) -> GEEResults:
            """Fit the design; a negative binomial dispersion is that of the design `of`."""
            family = families.get(name)  # noqa: B023
            if family is None:
                model = sm.NegativeBinomial(table["y"], of, exposure=table["exposure"])  # noqa: B023
                params = model.fit(method="bfgs", gtol=1e-9, maxiter=2000, disp=0).params
                family = sm.families.NegativeBinomial(alpha=float(params[-1]))
            model = sm.GEE(table["y"], design, groups=clusters(), family=family, offset=offset)  # noqa: B023
            return model.fit(ctol=1e-12, maxiter=500)

        null, larger = fit(X[:, :2], X[:, :2]), fit(X, X[:, :2])
        statistic = float(larger.model.compare_score_test(null)["statistic"])
        tests.append({"table": name, "peer": "statsmodels GEE", "statistic": statistic})
        errors[name] = fit(X, X).bse[1:].tolist()
    return tests, errors


def of_page(fits: Sequence[Mapping[str, object]], key: str, what: str) -> str:
    """Return the statistics `key` as a table of the page."""
    peers: dict[str, list[str]] = {}
    for fit in fits:
        peers.setdefault(str(fit["table"]), []).append(f"{fit['peer']}: {fit[key]:.9g}")
    return "\n".join([f"| table | {what} |", "|---|---|", *(row(table, "; ".join(peers[table])) for table in peers)])


def main() -> None:
    """Write the tables, the answers and the page."""
    found = tables()
    fits, residuals, slopes, tests, robust, errors, versions = by_r(found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits += by_statsmodels(found)
        by_gee, errors_by_gee = robust_by_statsmodels(found)
    record = {
        "versions": {
            "R": versions[0],
            "survival": versions[1],
            "MASS": versions[2],
            "statsmodels": version("statsmodels"),
        },
        "tables": found,
        "fits": fits,
        "martingale_residuals": residuals,
        "slopes": slopes,
        "proportional_hazards": tests,
        "clusters": clusters(),
        "robust": robust + by_gee,
        "robust_errors": errors | errors_by_gee,
    }
    text = json.dumps(record, separators=(",", ":"))
    (HERE / "regressions_recorded.json").write_text(text + "\n", encoding="utf-8")
    tables_of_page = {
        "ratios": of_page(fits, "ratio", "likelihood ratio"),
        "robust": of_page(robust + by_gee, "statistic", "robust score test"),
    }
    write(HERE / "README.md", tables_of_page)


if __name__ == "__main__":
    main()
