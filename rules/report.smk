# What was found, across data sets and selectors.
#
# inputs:  <results>/data/{dataset}/card.json
#          <results>/select/{dataset}/{split}/{selector}/blanket.parquet, folds.parquet, fold-*/shrink.parquet
#          <results>/evaluate/{dataset}/{selector}.parquet
# outputs: <results>/tables/{table}.parquet and .csv, one for each of TABLES
#          <results>/report.html, <results>/figures/*.svg, <results>/provenance.json

CARDS = expand("<results>/data/{dataset}/card.json", dataset=plan.config.datasets)
BLANKETS = of_pairs("<results>/select/{dataset}/{split}/{selector}/blanket.parquet")
BY_FOLD = of_pairs("<results>/select/{dataset}/{split}/{selector}/folds.parquet")
FINAL_SHRINK = of_pairs(
    "<results>/select/{dataset}/{final}/{selector}/fold-{fold}/shrink.parquet"
)
EVALUATIONS = (
    of_pairs("<results>/evaluate/{dataset}/{selector}.parquet")
    if plan.evaluation_splits
    else []
)


rule tables:
    """One table a question, over all data sets and selectors."""
    input:
        cards=CARDS,
        blankets=BLANKETS,
        by_fold=BY_FOLD,
        evaluations=EVALUATIONS,
    output:
        parquet=expand("<results>/tables/{table}.parquet", table=TABLES),
        csv=expand("<results>/tables/{table}.csv", table=TABLES),
    log:
        "<logs>/tables.log",
    benchmark:
        "<benchmarks>/tables.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("tables", n_folds=1),
    params:
        spec=lambda w: plan.report_spec(),
        code=plan.code("tables"),
    script:
        "../scripts/tables.py"


rule report:
    """The page that opens offline, its charts as files, and what made them."""
    input:
        cards=CARDS,
        blankets=BLANKETS,
        by_fold=BY_FOLD,
        shrink=FINAL_SHRINK,
        evaluations=EVALUATIONS,
        tables=expand("<results>/tables/{table}.parquet", table=TABLES),
    output:
        report="<results>/report.html",
        figures=directory("<results>/figures"),
        provenance="<results>/provenance.json",
    log:
        "<logs>/report.log",
    benchmark:
        "<benchmarks>/report.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("report", n_folds=1),
    params:
        spec=lambda w: plan.report_spec(),
        code=plan.code("report"),
    script:
        "../scripts/report.py"
