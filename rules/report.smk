# Result tables and report over data sets and selectors.
#
# inputs:  card, blanket, folds, shrink, ci_test, confirm, evaluate, evaluate_optimistic
# outputs: result_table  as Parquet and CSV, for each of TABLES and of the config's tables
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


rule further_table:
    """A result table from outside the package, of a class that the config names."""
    input:
        files=lambda w: plan.further[w.further].files(),
        evaluations=EVALUATIONS,
        optimistic=OPTIMISTIC,
        tables=expand(at("result_table"), table=["runtime", "truth", "statuses"]),
    output:
        parquet=at("result_table", table="{further}"),
        csv=report(
            at("result_table_csv", table="{further}"),
            caption="captions/table.rst",
            category="Tables",
            labels={"table": "{further}", "holds": "what its class makes"},
        ),
    log:
        "<logs>/further_{further}.log",
    benchmark:
        "<benchmarks>/further_{further}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("tables", n_folds=1),
    params:
        spec=lambda w: plan.further_spec(w.further),
        code=lambda w: plan.code("further_table", table=w.further),
    script:
        "../scripts/further_table.py"


rule report:
    """The page that opens offline, its charts as files, and what made them."""
    input:
        cards=CARDS,
        by_fold=BY_FOLD,
        shrink=files.final_shrink(),
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
