# From a source to a table and its splits.
#
# inputs:  the data set's source: a local file, one in object storage, a bundled set or a simulation
# outputs: table       features in table order, then the target; one row per feature if wide
#          card        shape, kinds, target distribution, hash, truth if known
#          splits      for one number of folds, so that another selector's number of folds does not rerun them
#          all_splits  all of them in one file, for users


rule table:
    """Read a source once and store it typed, with its card."""
    input:
        source=sources,
    output:
        table=TABLE,
        card=at("card"),
    log:
        "<logs>/table/{dataset}.log",
    benchmark:
        "<benchmarks>/table/{dataset}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("table", n_folds=1),
    params:
        spec=lambda w: plan.table_spec(w.dataset),
        source_states=lambda w: plan.source_states(w.dataset),
        code=lambda w: plan.code("table", dataset=w.dataset),
    script:
        "../scripts/table.py"


rule splits:
    """Draw every outer split and its inner folds once, for all selectors with this number of folds."""
    input:
        table=TABLE,
    output:
        splits=at("splits"),
    log:
        "<logs>/splits/{dataset}-{folds}.log",
    benchmark:
        "<benchmarks>/splits/{dataset}-{folds}.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        **resources("splits", n_folds=1),
    params:
        spec=lambda w: plan.splits_spec([int(w.folds)]),
        code=plan.code("splits"),
    script:
        "../scripts/splits.py"


rule gather_splits:
    """Put the splits of every number of folds into one file."""
    input:
        parts=lambda w: files.splits_of(w.dataset),
    output:
        splits=at("all_splits"),
    log:
        "<logs>/gather_splits/{dataset}.log",
    benchmark:
        "<benchmarks>/gather_splits/{dataset}.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        **resources("gather_splits", n_folds=1),
    params:
        spec=lambda w: plan.splits_spec(plan.numbers_of_folds(w.dataset)),
        code=plan.code("gather_splits"),
    script:
        "../scripts/gather_splits.py"
