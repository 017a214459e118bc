# make run: install and run the default config.   make test: install and test.   make help: all targets.
.PHONY: help setup setup-test setup-bench setup-docs setup-audit setup-release run test test-extended test-all \
	test-cluster test-faults test-versions fuzz soak lint audit sbom release-check docs bench benchmark-answer calibrate error-control \
	error-control-packages papers clean

VENV := .venv
BIN := $(VENV)/bin
CORES ?= $(shell nproc 2>/dev/null || echo 2)
MINUTES ?= 60
# Each of the many processes that tests start would compile what it imports again where this is set.
export PYTHONDONTWRITEBYTECODE :=

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

setup: $(VENV)/.installed ## create .venv with locked dependencies and compile the kernels

$(VENV)/.created: envs/create-venv
	@PYTHON="$(PYTHON)" sh envs/create-venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created envs/install envs/requirements.lock pyproject.toml
	sh envs/install $(VENV) -r envs/requirements.lock
	sh envs/install $(VENV) --no-build-isolation --no-deps -e .
	$(BIN)/python -c "from blanketflow.kernels import compile_all; compile_all()"
	touch $@

setup-test: $(VENV)/.installed-test ## the same plus what the tests need

$(VENV)/.installed-test: $(VENV)/.installed envs/requirements-test.lock
	sh envs/install $(VENV) -r envs/requirements-test.lock
	$(BIN)/python -c "from blanketflow.kernels import compile_all; compile_all(rare=True)" # else each process compiles
	touch $@

setup-bench: $(VENV)/.installed-bench ## the same plus the packages that make bench compares with

$(VENV)/.installed-bench: $(VENV)/.installed-test envs/requirements-bench.lock
	sh envs/install $(VENV) -r envs/requirements-bench.lock
	touch $@

setup-docs: $(VENV)/.installed-docs ## the same plus what builds the documentation

$(VENV)/.installed-docs: $(VENV)/.installed envs/requirements-docs.lock
	sh envs/install $(VENV) -r envs/requirements-docs.lock
	touch $@

setup-audit: $(VENV)/.installed-audit ## the same plus what looks for known vulnerabilities and lists what is installed

$(VENV)/.installed-audit: $(VENV)/.installed envs/requirements-audit.lock
	sh envs/install $(VENV) -r envs/requirements-audit.lock
	touch $@

setup-release: $(VENV)/.installed-release ## the same plus what checks a release

$(VENV)/.installed-release: $(VENV)/.installed envs/requirements-release.lock
	sh envs/install $(VENV) -r envs/requirements-release.lock
	touch $@

run: setup ## run config.yaml and print the blankets found
	$(BIN)/blanketflow run --cores $(CORES) --quiet rules

# Files are shared out in the order of tests/conftest.py: those that run the workflow take longest and come first.
PYTEST = $(BIN)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder

test: setup-test lint ## style, unit and contract tests, and a run of the workflow: nine minutes on two cores
	$(PYTEST) -m "not extended and not cluster"

test-extended: setup-test ## what make test leaves out: a quarter of an hour on two cores
	$(PYTEST) -m "extended and not cluster"

test-all: setup-test lint ## every check there is, but for the cluster's
	$(PYTEST) -m "not cluster"

papers: setup ## the papers' experiments beside what they printed; data from the folder BLANKETFLOW_DATA
	$(BIN)/python -m studies.papers --cores $(CORES)

test-cluster: setup-test ## bring up a real Slurm on this machine (root on Debian), test on it, take it down: a quarter of an hour
	tests/cluster/lab/run $(BIN)/python -m pytest tests/cluster

test-faults: setup-test ## stop runs by signals at 50 random moments; make test-all does it at three
	BLANKETFLOW_MOMENTS=50 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/faults

test-versions: setup-test ## the same results with the oldest and newest packages that are allowed, and on an older processor
	$(BIN)/python tests/versions/compare.py

fuzz: setup-test ## search for MINUTES=60 for input that breaks readers or calls; then 2,000 histories of a folder of results
	$(BIN)/python tests/fuzz/search.py --minutes $(MINUTES)
	BLANKETFLOW_SEQUENCES=2000 $(PYTEST) -o faulthandler_timeout=0 tests/unit/test_up_to_date.py

soak: setup-test ## 200 small runs one after the other, then one of 5,000 jobs: memory, open files, files left behind
	$(BIN)/python tests/soak/soak.py

audit: setup-audit ## known vulnerabilities of what is locked
	envs/audit $(BIN)

sbom: setup-audit ## write the bill of materials of a release: dist/sbom.json
	envs/make-sbom $(BIN)

release-check: setup-release ## build twice with equal bytes, check metadata and names, render the recipe, try the wheel
	rm -rf build/release && mkdir -p build/release/elsewhere
	$(BIN)/python -m hatchling build --directory build/release/first
	git ls-files -z | xargs -0 cp --parents -t build/release/elsewhere # another folder, other times
	cd build/release/elsewhere && umask 027 && $(abspath $(BIN))/python -m hatchling build --directory ../second
	diff -r build/release/first build/release/second
	$(BIN)/twine check --strict build/release/first/*
	PYTHONPATH=docs $(BIN)/python -m generate.public_names
	git diff --exit-code tests/public_names.yaml # commit the names of the release
	$(BIN)/python envs/render-recipe build/release/first/*.tar.gz >build/release/rendered-recipe.yaml
	$(BIN)/python envs/try-release build/release/first

lint: setup-test ## style of Python and Snakemake files
	$(BIN)/ruff check src scripts envs tests studies docs
	$(BIN)/ruff format --check src scripts envs tests studies docs
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules workflow
	$(BIN)/snakemake --lint

docs: setup-docs ## regenerate docs/config.md and config/schema.json, build the site into docs/_build/html
	$(BIN)/python -m blanketflow.config.schema
	PYTHONPATH=docs $(BIN)/python -m generate.selector_classes
	PYTHONPATH=docs $(BIN)/python -m generate.advice
	PYTHONPATH=docs $(BIN)/python -m generate.ci_tests
	PYTHONPATH=docs $(BIN)/python -m generate.target_kinds
	PYTHONPATH=docs $(BIN)/python -m generate.standards
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: setup-bench ## measure everything, beside other packages: half an hour; FULL=--full for what takes minutes a number
	$(BIN)/python -m studies.speed $(FULL)

benchmark-answer: setup-bench ## measure auto beside what people use, hours; goes on where it stopped; data from BLANKETFLOW_DATA
	$(BIN)/python -m studies.shared.paper_data
	PYTHONPATH=. $(BIN)/snakemake --cores $(CORES) --keep-going --configfile studies/answer/answer.yaml
	$(BIN)/python -m studies.answer.page

calibrate: setup ## measure false positives and power of the CI tests for MINUTES=60, going on where it ended; then error-control
	$(BIN)/python -m studies.calibration --budget-minutes $(MINUTES) --workers $(CORES)
	$(MAKE) error-control

error-control: setup ## measure knockoffs for MINUTES=60, going on where the last run ended; then the rest of its page
	$(BIN)/python -m studies.error_control --budget-minutes $(MINUTES)
	$(BIN)/python -m studies.error_control.discoveries --budget-minutes $(MINUTES)
	$(BIN)/python -m studies.error_control.real_tables
	$(BIN)/python -m studies.error_control.stability_selection
	$(BIN)/python -m studies.error_control.dcrt
	$(BIN)/python -m studies.error_control.confirmation
	$(BIN)/python -m studies.error_control.corrected_blankets

error-control-packages: setup-bench ## the same beside hidimstat and knockpy, for MINUTES=60 of CPU time; it goes on, too
	$(BIN)/python -m studies.knockoff_packages --budget-minutes $(MINUTES)

clean: ## remove results and caches, keep .venv
	rm -rf results .snakemake
