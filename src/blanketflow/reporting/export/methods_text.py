"""A paragraph on methods for a paper, with the keys of the BibTeX entries: only what the run did, as it recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...core.errors import BlanketflowError
from ...core.printable import printable
from ...core.registry import look_up
from ...core.rows import FORWARD, LEAVE_GROUP_OUT
from ..formatting import count, metric_name, plain
from .bibtex import CORRECTIONS, ITSELF, Bibliography, references

if TYPE_CHECKING:
    from .exported_run import ExportedRun

#: Options that a reader needs even where they have their default.
_MATTER = ("alpha", "max_k", "correction", "n_features", "q", "n_repeats", "bins", "metric")
_RULES = {
    "best-blanket": "of these sets, that whose features were chosen most often on average was kept",
    "union": "the features chosen at least once were kept",
    "intersection": "the features chosen every time were kept",
}
_MISSING = {
    "impute": "were replaced by the median or the most frequent label of the training rows",
    "drop": "were not used: rows with one were left out",
    "pairwise": "were left out test by test: each test used the rows that are complete in its columns",
}
_PRIOR = {"include": "kept in any case", "exclude": "left out in any case"}


def as_methods(exported: ExportedRun) -> str:
    """Return paragraphs on software, data, selection and evaluation, in Markdown with citations as pandoc reads them.

    Keys are those of `as_bibtex`.
    """
    told = _Told(exported)
    parts = [told.software(), told.data(), *told.selection(), told.evaluation(), told.troubles()]
    return "\n\n".join(printable(part) for part in parts if part) + "\n"


def _citation(keys: Iterable[str]) -> str:
    said = "; ".join(f"@{key}" for key in keys)
    return f" [{said}]" if said else ""


def _of_correction(name: str) -> str:
    return _citation(paper.key for paper in references(CORRECTIONS.get(name, "")))


class _Told:
    """Sentences on one run."""

    def __init__(self, exported: ExportedRun) -> None:
        self.exported, self.run, self.datasets = exported, exported.run, exported.datasets
        self._bibliography = Bibliography(exported.run.method_cards.values())

    def software(self) -> str:
        known = self.run.provenance
        versions = ", ".join(f"{name} {version}" for name, version in sorted(known["packages"].items()))
        return (
            f"Features were selected with blanketflow {known['blanketflow']} [@{ITSELF}] on Python {known['python']} "
            f"({versions}). All random numbers derive from the seed {known['seed']}."
        )

    def data(self) -> str:
        return " ".join(self._of_data(self.run.cards[name], name) for name in self.datasets)

    def _of_data(self, card: Mapping[str, Any], name: str) -> str:
        text = f"Data set {name} has {count(card['n_rows'], 'row')} and {count(card['n_features'], 'feature')}. Its "
        text += f'target is "{card["target"]["name"]}" ({card["task"]}){self._cited(card["task"])}.'
        missing = card["missing"]
        if missing["cells"] and missing["policy"] in _MISSING:
            copies = f"imputed {missing['imputations']} times by draws" if "imputations" in missing else ""
            how = f"were {copies}, and CI tests pooled over the copies" if copies else _MISSING[missing["policy"]]
            text += f" Its {count(missing['cells'], 'missing cell')} {how}."
        text += "".join(f" In it {said}." for said in self.run.sampled.get(name, ()))
        return text

    def selection(self) -> Iterator[str]:
        """One paragraph for each selector that searched; references are named together."""
        references = [name for name in self.exported.searched if self.run.is_reference(name)]
        for selector in self.exported.searched:
            if selector not in references:
                yield " ".join(self._of_selector(selector, self.run.selectors[selector]))
        if references:
            names = ", ".join(f"{name} ({self._named(self._method(name))})" for name in references)
            yield f"For comparison the run also had {names}."

    def _method(self, selector: str) -> str:
        return self.run.selectors[selector]["method"]

    def _of_selector(self, selector: str, spec: Mapping[str, Any]) -> Iterator[str]:
        method = spec["method"]
        yield f"Selector {selector} is {self._named(method)}{self._set_to('selectors', method, spec)}."
        if "q" in spec and ":" not in method:
            yield "Here q is the false discovery rate that it is to keep."
        yield from self._tests(selector, spec)
        yield self._folds(spec)
        for key, words in _PRIOR.items():
            if spec.get(key):
                yield f"Features {words}: {plain(spec[key])}."
        if groups := spec.get("feature_groups"):
            yield f"{count(len(groups), 'group')} of features were selected as a whole."
        if spec.get("min_effect"):
            yield f"Smaller effects than {spec['min_effect']:g} counted as independence."
        if spec.get("confirm"):
            splits = spec.get("confirm_splits", 1)
            often = f" in each of {splits} random splits" if splits > 1 else ""
            yield f"The features were then tested on {spec['confirm']:.0%} of the rows, left out of the search{often}."
        limits = [f"{spec['time_limit']:g} seconds"] if spec["time_limit"] else []
        limits += [count(spec["max_tests"], "test")] if spec["max_tests"] else []
        if limits:
            yield f"A search was limited to {' and '.join(limits)}."

    def _tests(self, selector: str, spec: Mapping[str, Any]) -> Iterator[str]:
        """What tested conditional independence, and why: a sentence for each test, with its data sets."""
        statuses = self.run.rows(self.run.tables["statuses"], selector=selector, stage="select")
        by_test: dict[tuple[str, str], list[str]] = {}
        for dataset in [name for name in self.datasets if name in set(statuses["dataset"])]:
            if test := self.exported.test_of(dataset, selector):
                said = self._named(test["type"]) + self._set_to("ci", test["type"], test.get("options", {}))
                why = self.run.chosen_tests[dataset][1].rstrip(".") if selector in self._automatic else ""
                by_test.setdefault((said, why), []).append(dataset)
        card = self.run.method_cards.get(spec["method"])
        does = "tested conditional independence" if card and card.family == "causal" else "measured dependence"
        for (said, why), datasets in by_test.items():
            on = f"On {plain(datasets)} it" if len(self.datasets) > 1 else "It"
            yield f"{on} {does} by {said}." + (f" This test was chosen automatically: {why}." if why else "")

    @property
    def _automatic(self) -> list[str]:
        asked = self.run.provenance["config"]["selectors"]
        return [name for name, spec in asked.items() if spec.get("ci_test") == "auto"]

    def _folds(self, spec: Mapping[str, Any]) -> str:
        if not spec["folds"]:
            return "It searched all training rows once."
        rule = spec["aggregate"]
        if isinstance(rule, Mapping):
            kept = f"the features chosen in at least {rule['frequency']:.0%} of the searches were kept"
        else:
            kept = _RULES.get(rule, f"the sets were combined by the rule {rule}")
        one = "one fold alone" if spec["fold_rows"] == "part" else "all but one fold"
        return f"It searched {spec['folds']} times, each time in the rows of {one} of {spec['folds']}, and {kept}."

    def _named(self, name: str) -> str:
        card = self.run.method_cards.get(name)
        return f"{card.name}{self._cited(name)}" if card else f"{name}, which another package defines"

    def _cited(self, name: str) -> str:
        card = self.run.method_cards.get(name)
        return _citation(self._bibliography.keys(card) if card else [])

    def _set_to(self, room: str, name: str, said: Mapping[str, Any]) -> str:
        """Return the options that differ from their defaults, and those that matter, after "with"."""
        try:
            usual = {} if ":" in name else look_up(f"blanketflow.{room}", name, "class").defaults()
        except BlanketflowError:  # of an earlier version
            usual = {}
        given = {key: value for key, value in said.items() if key in usual}
        shown = [
            f"{key} = {plain(value)}{_of_correction(value) if key == 'correction' else ''}"
            + (f" (default {plain(usual[key])})" if value != usual[key] else "")
            for key, value in given.items()
            if value != usual[key] or key in _MATTER
        ]
        rest = "; its other options had their defaults" if len(shown) < len(given) else ""
        return f" with {', '.join(shown)}{rest}" if shown else " with its default options" if given else ""

    def evaluation(self) -> str:
        scores = self.run.tables["scores"]
        own = scores[scores["dataset"].isin(self.datasets)].dropna(subset=["mean"])
        if own.empty:
            return "No model was scored."
        models = ", ".join(self._named(name) for name in dict.fromkeys(own["model"]))
        metrics = ", ".join(map(metric_name, dict.fromkeys(own["metric"])))
        return (
            f"The selected features were scored on rows that their selection had not seen: {self._splits()}, with the "
            f"selection repeated on the training rows of each. Models were {models}. Metrics were {metrics}."
        )

    def _splits(self) -> str:
        said = self.run.provenance["config"]["splits"]
        if said["evaluation"] == LEAVE_GROUP_OUT:
            return "each group of rows was left out once"
        if said["evaluation"] == FORWARD:
            gap = f", with a gap of {said['gap']:g} before it" if said["gap"] else ""
            return f"rows were cut into {said['parts']} periods of time, each scored by what was learned before it{gap}"
        if said["evaluation"] == 1:
            return "the test rows of the data set"
        strata = ", stratified by the class if the target has classes" if said["stratify"] else ""
        often = f", repeated {said['repeats']} times" if said["repeats"] > 1 else ""
        return f"cross-validation with {said['evaluation']} folds{often}{strata}"

    def troubles(self) -> str:
        """What did not run or end well: a paper must say it."""
        skipped = self.run.skipped[self.run.skipped["dataset"].isin(self.datasets)]
        said = [f"{row.selector} was not run on {row.dataset}: {row.reason}." for row in skipped.itertuples()]
        ended = self.run.outcomes[self.run.outcomes["dataset"].isin(self.datasets)]
        for keys, own in ended.groupby(["selector", "dataset", "stage", "status"], sort=False):
            selector, dataset, stage, status = keys
            why = str(own["reason"].iloc[0]).rstrip(".")
            said.append(
                f"{selector} on {dataset} ended with status {status} in {stage} on {count(len(own), 'split')}: {why}."
            )
        return " ".join(said)
