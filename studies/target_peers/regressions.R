# Regressions of R on the tables in a folder, one row per fit: table, peer, null and larger log likelihood, ratio, extra.
# Called by regressions_recorded.py: Rscript regressions.R FOLDER
library(survival)
library(MASS)

folder <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
cluster <- read("clusters")$cluster
rows <- list()
note <- function(table, fit, ratio, extra = NA) {
  rows[[length(rows) + 1]] <<- data.frame(table = table, fit = fit, ratio = ratio, extra = extra)
}
# Slopes with standard errors, whose squares are times a dispersion.
slopes <- list()
keep_slopes <- function(table, fit, dispersion = 1) {
  x <- c("x1", "x2", "x3")
  error <- sqrt(diag(vcov(fit))[x] * dispersion)
  slopes[[length(slopes) + 1]] <<- data.frame(table = table, x = x, slope = coef(fit)[x], error = error)
}
above_1 <- function(fit) max(1, sum(residuals(fit, "pearson")^2) / fit$df.residual)
# Robust score tests of x2 and x3: R's own, and given x1 from its score residuals.
robust <- list()
keep_robust <- function(table, test, statistic) {
  robust[[length(robust) + 1]] <<- data.frame(table = table, test = test, statistic = sprintf("%.12g", statistic))
}
exact <- coxph.control(eps = 1e-12, toler.chol = 1e-14, iter.max = 100)

cox <- function(name, null, larger) {
  d <- read(name)
  small <- coxph(null, d, ties = "efron", control = exact)
  big <- do.call(coxph, list(larger, d, ties = "efron", control = exact))
  note(name, "coxph", 2 * (tail(big$loglik, 1) - tail(small$loglik, 1)))
  keep_slopes(name, big)
  tested <- cox.zph(big)$table
  write.csv(data.frame(term = rownames(tested), tested), file.path(folder, paste0(name, "-zph.csv")), row.names = FALSE)
  write.csv(data.frame(r = residuals(small, "martingale")), file.path(folder, paste0(name, "-residuals.csv")))
  alone <- update(larger, . ~ . - x1)
  by_cluster <- do.call(coxph, list(alone, d, ties = "efron", control = exact, cluster = cluster))
  keep_robust(name, "coxph, rscore", by_cluster$rscore)
  of_all <- do.call(coxph, list(larger, d, ties = "efron", control = exact, cluster = cluster))
  write.csv(data.frame(error = sqrt(diag(vcov(of_all)))), file.path(folder, paste0(name, "-robust.csv")))
  start <- c(coef(small), 0, 0)
  none <- coxph.control(iter.max = 0)
  at_null <- do.call(coxph, list(larger, d, ties = "efron", init = start, control = none))
  scores <- residuals(at_null, "score")
  information <- solve(vcov(at_null))
  slopes_of_null <- solve(information[1, 1], information[1, 2:3, drop = FALSE])
  totals <- rowsum(scores[, 2:3] - scores[, 1] %*% slopes_of_null, cluster)
  u <- colSums(totals)
  keep_robust(name, "coxph, score residuals", u %*% solve(crossprod(totals), u))
}
for (name in c("survival", "tied")) cox(name, Surv(time, event) ~ x1, Surv(time, event) ~ x1 + x2 + x3)
for (name in c("late", "late-tied")) {
  cox(name, Surv(entry, time, event) ~ x1, Surv(entry, time, event) ~ x1 + x2 + x3)
}

for (name in c("strata", "strata-late")) {
  response <- if (name == "strata") "Surv(time, event)" else "Surv(entry, time, event)"
  cox(
    name, as.formula(paste(response, "~ x1 + strata(strata)")),
    as.formula(paste(response, "~ x1 + x2 + x3 + strata(strata)"))
  )
}

control <- glm.control(epsilon = 1e-14, maxit = 200)
d <- read("poisson")
fits <- lapply(
  c(y ~ x1 + offset(log(exposure)), y ~ x1 + x2 + x3 + offset(log(exposure))),
  function(f) glm(f, poisson, d, control = control)
)
keep_slopes("poisson", fits[[2]], above_1(fits[[2]]))
note("poisson", "glm", 2 * as.numeric(logLik(fits[[2]]) - logLik(fits[[1]])))

for (name in c("negative-binomial", "large-counts")) {
  d <- read(name)
  fits <- lapply(
    c(y ~ x1 + offset(log(exposure)), y ~ x1 + x2 + x3 + offset(log(exposure))),
    function(f) glm.nb(f, d, control = control, init.theta = 1)
  )
  keep_slopes(name, fits[[2]], above_1(fits[[2]]))
  means <- fitted(glm(y ~ x1 + offset(log(exposure)), poisson, d, control = control))
  excess <- ((d$y - means)^2 - d$y) / means
  note(
    name, "glm.nb", 2 * as.numeric(logLik(fits[[2]]) - logLik(fits[[1]])),
    summary(lm(excess ~ means - 1))$coefficients[1, 3]
  )
}

d <- read("gamma")
fits <- lapply(c(y ~ x1, y ~ x1 + x2 + x3), function(f) glm(f, Gamma("log"), d, control = control))
likelihood <- sapply(fits, function(fit) {
  shape <- gamma.shape(fit, it.lim = 100, eps.max = 1e-12)$alpha
  sum(dgamma(d$y, shape, rate = shape / fitted(fit), log = TRUE))
})
shape <- gamma.shape(fits[[2]], it.lim = 100, eps.max = 1e-12)$alpha
keep_slopes("gamma", fits[[2]], max(1, 1 / shape / summary(fits[[2]])$dispersion))
note("gamma", "glm, gamma.shape", 2 * (likelihood[2] - likelihood[1]))

d <- read("share")
fits <- lapply(c(y ~ x1, y ~ x1 + x2 + x3), function(f) glm(f, quasibinomial, d, control = control))
keep_slopes("share", fits[[2]])
note("share", "glm", (fits[[1]]$deviance - fits[[2]]$deviance) / summary(fits[[2]])$dispersion)

d <- read("ordered")
d$y <- factor(d$y, ordered = TRUE)
fits <- lapply(c(y ~ x1, y ~ x1 + x2 + x3), function(f) {
  polr(f, d, method = "logistic", Hess = TRUE, control = list(reltol = 1e-15, maxit = 1000))
})
keep_slopes("ordered", fits[[2]])
note("ordered", "polr", 2 * as.numeric(logLik(fits[[2]]) - logLik(fits[[1]])))

found <- do.call(rbind, rows)
found$ratio <- sprintf("%.12g", found$ratio)
found$extra <- sprintf("%.12g", found$extra)
write.csv(found, file.path(folder, "found.csv"), row.names = FALSE)
slopes <- do.call(rbind, slopes)
slopes$slope <- sprintf("%.12g", slopes$slope)
slopes$error <- sprintf("%.12g", slopes$error)
write.csv(slopes, file.path(folder, "slopes.csv"), row.names = FALSE)
write.csv(do.call(rbind, robust), file.path(folder, "robust.csv"), row.names = FALSE)
cat(R.version.string, as.character(packageVersion("survival")), as.character(packageVersion("MASS")), sep = "\n")
