# What was found, across data sets and selectors.
#
# inputs:  <results>/data/{dataset}/card.json
#          <results>/select/{dataset}/{split}/{selector}/blanket.parquet, folds.parquet, fold-*/shrink.parquet
#          <results>/evaluate/{dataset}/{selector}.parquet
# outputs: <results>/tables/{table}.parquet and .csv, one for each of TABLES
#          <results>/tables/paper_{paper}.parquet and .csv, one for each file of printed results, and
#          <results>/tables/paper_{paper}_claims.parquet and .csv
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
OPTIMISTIC = (
    of_pairs("<results>/evaluate/{dataset}/all-rows/{selector}.parquet")
    if plan.config.splits["optimistic"]
    else []
)


rule tables:
    """One table a question, over all data sets and selectors."""
    input:
        cards=CARDS,
        blankets=BLANKETS,
        by_fold=BY_FOLD,
        evaluations=EVALUATIONS,
        optimistic=OPTIMISTIC,
    output:
        parquet=expand("<results>/tables/{table}.parquet", table=TABLES),
        csv=[
            report(
                f"<results>/tables/{table}.csv",
                caption="captions/table.rst",
                category="Tables",
                labels={"table": table, "holds": holds},
            )
            for table, holds in TABLES.items()
        ],
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


rule printed:
    """Our results beside those that a paper printed, and its claims judged by them."""
    input:
        printed=lambda w: plan.config.printed[w.paper],
        evaluations=EVALUATIONS,
        optimistic=OPTIMISTIC,
        tables=expand(
            "<results>/tables/{table}.parquet", table=["runtime", "truth", "statuses"]
        ),
    output:
        parquet="<results>/tables/paper_{paper}.parquet",
        csv=report(
            "<results>/tables/paper_{paper}.csv",
            caption="captions/table.rst",
            category="Tables",
            labels={"table": "paper_{paper}", "holds": "ours beside printed results"},
        ),
        claims="<results>/tables/paper_{paper}_claims.parquet",
        claims_csv=report(
            "<results>/tables/paper_{paper}_claims.csv",
            caption="captions/table.rst",
            category="Tables",
            labels={"table": "paper_{paper}_claims", "holds": "what it claims"},
        ),
    log:
        "<logs>/paper_{paper}.log",
    benchmark:
        "<benchmarks>/paper_{paper}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("tables", n_folds=1),
    params:
        spec=lambda w: plan.printed_spec(),
        code=plan.code("printed"),
    script:
        "../scripts/printed.py"


rule report:
    """The page that opens offline, its charts as files, and what made them."""
    input:
        cards=CARDS,
        by_fold=BY_FOLD,
        shrink=FINAL_SHRINK,
        tables=expand("<results>/tables/{table}.parquet", table=TABLES),
    output:
        report=report(
            "<results>/report.html",
            caption="captions/report.rst",
            category="Report",
            labels={"result": "the whole report"},
        ),
        figures=report(
            directory("<results>/figures"),
            patterns=["{figure}.svg"],
            caption="captions/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        provenance=report(
            "<results>/provenance.json",
            caption="captions/provenance.rst",
            category="Report",
            labels={"result": "what made it"},
        ),
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
