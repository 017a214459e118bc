# What was found, across data sets and selectors.
#
# inputs:  card, blanket, folds, shrink, ci_test, confirm, evaluate, evaluate_optimistic
# outputs: result_table  as Parquet and CSV, for each of TABLES, and two for each file of printed results
#          report, figures, provenance

CARDS = files.cards()
BLANKETS = files.of_pairs("blanket")
BY_FOLD = files.of_pairs("folds")
EVALUATIONS = files.scores("evaluate")
CONFIRMED = files.confirmed()
OPTIMISTIC = files.scores("evaluate_optimistic")


rule tables:
    """One table a question, over all data sets and selectors."""
    input:
        cards=CARDS,
        blankets=BLANKETS,
        by_fold=BY_FOLD,
        evaluations=EVALUATIONS,
        optimistic=OPTIMISTIC,
        confirmed=CONFIRMED,
    output:
        parquet=expand(at("result_table"), table=TABLES),
        csv=[
            report(
                at("result_table_csv", table=table),
                caption="captions/table.rst",
                category="Tables",
                labels={"table": table, "holds": made.holds},
            )
            for table, made in TABLES.items()
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
        tables=expand(at("result_table"), table=["runtime", "truth", "statuses"]),
    output:
        parquet=at("result_table", table="paper_{paper}"),
        csv=report(
            at("result_table_csv", table="paper_{paper}"),
            caption="captions/table.rst",
            category="Tables",
            labels={"table": "paper_{paper}", "holds": "ours beside printed results"},
        ),
        claims=at("result_table", table="paper_{paper}_claims"),
        claims_csv=report(
            at("result_table_csv", table="paper_{paper}_claims"),
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
        shrink=files.final_shrink(),
        marginals=files.final_marginals(),
        tables=expand(at("result_table"), table=TABLES),
    output:
        report=report(
            at("report"),
            caption="captions/report.rst",
            category="Report",
            labels={"result": "the whole report"},
        ),
        figures=report(
            directory(at("figures")),
            patterns=["{figure}.svg"],
            caption="captions/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        provenance=report(
            at("provenance"),
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
    threads: 2
    resources:
        **resources("report", n_folds=1),
    params:
        spec=lambda w: plan.report_spec(),
        code=plan.code("report"),
    script:
        "../scripts/report.py"
