"""Jobs that do several things on a data set: which they are, and that they write what jobs of each write."""

import shutil
from pathlib import Path

import pytest

from blanketflow.data.artefacts import read_provenance
from blanketflow.workflow import job_files
from blanketflow.workflow.grain import MOST_FILES, Several, fold_ids, shared_jobs
from blanketflow.workflow.identity import content_of
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.stages.aggregation import aggregate_splits
from blanketflow.workflow.stages.decisions import grow_shrink
from blanketflow.workflow.stages.evaluation import evaluate_blankets, several_evaluations
from blanketflow.workflow.stages.marginal import ci_test, several_tests
from blanketflow.workflow.stages.several_selectors import several_selectors
from blanketflow.workflow.stages.splits import draw_splits
from blanketflow.workflow.stages.table import read_and_store

SCRIPTS = Path(__file__).parents[2] / "scripts"
SEARCHES = ("gs", "mim", "wide")
CONFIG = {
    "datasets": {"wine": {"source": "sklearn:wine"}},
    "splits": {"evaluation": 2},
    "folds": 2,
    "selectors": {
        "gs": {"method": "gs", "ci_test": "g2"},
        "mim": {"method": "mim", "n_features": 2},
        "wide": {"method": "mim", "ci_test": "g2", "n_features": 3, "folds": 3},  # other folds, and other splits
    },
    "models": ["tree"],
}


def plan_of(**more):
    return make_plan({**CONFIG, **more}, SCRIPTS.joinpath)


def test_jobs_are_of_about_equal_length_and_keep_the_order():
    def of(share):
        return shared_jobs({("a", name): share for name in "vwxyz"})

    assert of(0.1) == [Several(tuple("vwxyz"), ("a",))]
    assert of(0.4) == [Several(("v", "w"), ("a",)), Several(("x", "y", "z"), ("a",))]
    assert of(1.1) == shared_jobs({}) == []


def test_auto_shares_a_job_among_what_it_has_joined_as_far_as_it_can():
    grains = plan_of().grains
    names = (*SEARCHES, "all")
    assert grains.several_selectors == grains.several_evaluations == [Several(names, ("wine",))]
    assert {grains.of_selector("wine", name) for name in names} == {"several"} and grains.searched_folds(
        "dataset"
    ) == []
    for more in ({"grain": "dataset"}, {"job_seconds": 1e-6}):
        alone = plan_of(**more).grains
        assert alone.several_selectors == alone.several_tests == alone.several_evaluations == []
    own = plan_of(selectors={**CONFIG["selectors"], "mim": {**CONFIG["selectors"]["mim"], "grain": "split"}}).grains
    assert own.several_selectors == [Several(("gs", "wide", "all"), ("wine",))]
    assert own.of_selector("wine", "mim") == "split" and 2 in own.searched_folds("split")


def test_rules_list_only_so_many_files_that_snakemake_finds_each_soon():
    # 30 folds of 11 splits: grow and shrink of each, and three files for each split.
    n_files = 2 * 30 * 11 + 3 * 11
    assert 3 * n_files > MOST_FILES
    assert plan_of(folds=30, splits={"evaluation": 10}, job_seconds=1e9).grains.several_selectors == []
    assert len(plan_of(job_seconds=1e9).grains.several_selectors) == 1


def test_code_of_others_which_may_crash_has_jobs_of_its_own():
    foreign = {"method": "sklearn.feature_selection:VarianceThreshold"}
    grains = plan_of(selectors={**CONFIG["selectors"], "theirs": foreign}).grains
    assert grains.of_selector("wine", "theirs") == "dataset"
    assert plan_of(models=["tree", "sklearn.naive_bayes:GaussianNB"]).grains.several_evaluations == []


class Run:
    """A folder of results, and its jobs called by hand as the rules do."""

    def __init__(self, folder, **more):
        self.plan = plan = plan_of(**more)
        self.files = JobFiles(plan, folder.joinpath)
        at = self.files.at
        self.table = at("table", dataset="wine")
        if not self.table.exists():
            read_and_store([], self.table, at("card", dataset="wine"), "wine", plan.table_spec("wine"), code="")
            for n_folds, path in zip(plan.numbers_of_folds("wine"), self.splits, strict=True):
                draw_splits(self.table, path, "wine", plan.splits_spec([n_folds]))
        self.tests = sorted(test for _, test in plan.grains.folds_of_tests)
        self.names = [name for _, name in plan.pairs]

    @property
    def splits(self):
        return self.files.splits_of("wine")

    def of_tests(self):
        found = []
        for (_, test), numbers in self.plan.grains.folds_of_tests.items():
            for split in self.plan.splits("wine"):
                for fold in [fold for n in sorted(numbers) for fold in fold_ids(n)]:
                    found.append(self.files.at("ci_test", dataset="wine", test=test, split=split, fold=fold))
        return found

    def of(self, artefact, names):
        ids = [{"dataset": "wine", "selector": name} for name in names]
        if artefact in ("grow", "shrink"):
            return [path for one in ids for path in self.files.of_folds(artefact, one)]
        if artefact == "evaluate":
            return [self.files.at(artefact, **one) for one in ids]
        return [self.files.at(artefact, **one, split=split) for one in ids for split in self.plan.splits("wine")]

    def together(self):
        """The three jobs of the data set."""
        plan, names = self.plan, self.names
        asked = job_files.tests_spec(plan, "wine", self.tests), job_files.tests_code(plan, self.tests)
        several_tests(self.table, self.splits, self.of_tests(), "wine", *asked)
        outputs = [self.of(artefact, names) for artefact in ("grow", "shrink", "blanket", "folds", "blankets")]
        asked = job_files.selectors_spec(plan, "wine", names), job_files.selectors_code(plan, "wine", names)
        several_selectors(self.table, self.splits, self.of_tests(), *outputs, "wine", *asked)
        folds = [str(plan.selector(name).folds) for name in names]
        blankets = [path for name in names for path in self.files.evaluated("evaluate", self.ids(name))]
        asked = plan.evaluate_spec("wine"), plan.code("evaluate")
        several_evaluations(self.table, self.splits, blankets, self.of("evaluate", names), "wine", folds, *asked)
        return self

    def one_by_one(self):
        """A job for each test, search, aggregation and evaluation."""
        plan = self.plan
        for path in self.of_tests():
            test, split, fold = path.stem, path.parts[-3], path.parts[-2].removeprefix("fold-")
            splits = self.files.splits({"dataset": "wine", "fold": fold})
            asked = plan.test_spec("wine", test), plan.code("ci_test", test=test)
            ci_test(self.table, splits, [path], "wine", [f"{split}/{fold}"], test, *asked)
        for name in self.names:
            ids = self.ids(name)
            tested, found = self.files.marginals(ids), [self.of("grow", [name]), self.of("shrink", [name])]
            parts, splits = list(map("/".join, self.files.folds(ids))), self.files.splits(ids)
            asked = plan.method_spec("wine", name), plan.code("grow_shrink", dataset="wine", selector=name)
            grow_shrink(self.table, splits, tested, *found, "wine", parts, *asked)
            to = [self.of(artefact, [name]) for artefact in ("blanket", "folds", "blankets")]
            asked = plan.aggregate_spec("wine", name), plan.code("aggregate")
            aggregate_splits(tested, *found, *to, plan.folds(name), *asked)
            asked = plan.evaluate_spec("wine"), plan.code("evaluate")
            blankets, (scores,) = self.files.evaluated("evaluate", ids), self.of("evaluate", [name])
            evaluate_blankets(self.table, splits, blankets, scores, "wine", *asked)
        return self

    def ids(self, name):
        return {"dataset": "wine", "selector": name}

    def results(self):
        found = [self.of(artefact, self.names) for artefact in ("grow", "shrink", "blanket", "folds", "blankets")]
        return [*self.of_tests(), *(path for paths in found for path in paths), *self.of("evaluate", self.names)]

    def contents(self):
        return {path.relative_to(self.table.parents[2]): content_of(path) for path in self.results()}

    def seconds(self):
        """How long each took: another number says that it was made again."""
        return {path: read_provenance(path).seconds for path in self.results()}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("together")).together()


def test_they_write_what_a_job_of_each_writes(run, tmp_path):
    assert run.contents() == Run(tmp_path).one_by_one().contents()


def test_what_stands_is_kept_and_what_is_asked_for_otherwise_or_damaged_is_made_again(run, tmp_path):
    folder = shutil.copytree(run.table.parents[2], tmp_path / "own")
    run = Run(folder)
    before = run.seconds()
    assert run.together().seconds() == before
    mim = {**CONFIG["selectors"], "mim": {"method": "mim", "n_features": 4}}
    other = Run(folder, selectors=mim).together()
    made = {path for path, seconds in other.seconds().items() if seconds != before[path]}
    assert made and all("mim" in path.parts or path.stem == "mim" for path in made)
    assert set(other.of("shrink", ["mim"])) | set(other.of("evaluate", ["mim"])) <= made
    (damaged, *_), after = other.of("shrink", ["gs"]), other.seconds()
    content = content_of(damaged)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert content_of(other.together().of("shrink", ["gs"])[0]) == content
    made = {path for path, seconds in other.seconds().items() if seconds != after[path]}
    # Growing and shrinking of the fold; what follows has the same inputs as before.
    assert made == {damaged, damaged.with_name("grow.parquet")}
