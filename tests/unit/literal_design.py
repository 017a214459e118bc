"""Tests of a sample with a design, written out: loops over clusters, and residuals by weighted least squares."""

import itertools

import numpy as np
from scipy import stats
from scipy.optimize import minimize
from scipy.special import logsumexp


def residual(values, given, weights):
    """Return what a regression on an intercept and the given columns leaves, by weighted least squares."""
    design = np.column_stack([np.ones(len(values)), *given])
    root = np.sqrt(weights)
    coefficients = np.linalg.lstsq(design * root[:, None], values * root, rcond=None)[0]
    return values - design @ coefficients


def own_weights(weights, columns):
    """Return the weights over what a linear regression of their logarithm on some columns explains."""
    return np.exp(residual(np.log(weights), columns, np.ones(len(weights))))


def cluster_sums(scores, clusters):
    """Return the sum of the scores, (n, q), of each cluster."""
    return np.array([scores[clusters == one].sum(axis=0) for one in np.unique(clusters)])


def variance_of_sum(scores, clusters, n_parameters):
    """Return the covariance, (q, q), of the sum of scores, from the scatter of the clusters' sums around their mean."""
    sums = cluster_sums(scores, clusters)
    n, around = len(sums), sums - sums.mean(axis=0)
    return n / (n - 1 - n_parameters) * sum(np.outer(one, one) for one in around)


def rao_scott_p(statistic, covariance, rest):
    """Return p of a sum of squares whose terms have these variances: F with Satterthwaite's degrees of freedom."""
    eigenvalues = np.linalg.eigvalsh(covariance)
    dof = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    return stats.f.sf(statistic / eigenvalues.sum(), dof, dof * rest)


def weighted_partial_correlation(x, y, given, weights):
    """Return the weighted correlation of two residuals."""
    a, b = (residual(column, given, weights) for column in (x, y))
    return np.sum(weights * a * b) / np.sqrt(np.sum(weights * a**2) * np.sum(weights * b**2))


def t_test_of_totals(x, y, given, weights, clusters):
    """Return p of a one-sample t-test on the clusters' totals of products of residuals; each given column costs one."""
    a, b = (residual(column, given, weights) for column in (x, y))
    sums = cluster_sums((weights * a * b)[:, None], clusters)[:, 0]
    n, k = len(sums), len(given)
    rest = n - 1 - k
    error = np.sqrt(n * np.sum((sums - sums.mean()) ** 2) / rest)
    return 2 * stats.t.sf(abs(sums.sum()) / error, rest)


def tables(x, y, strata, weights):
    """Yield for each stratum its rows and the expected shares of the levels of x and y."""
    for stratum in np.unique(strata):
        rows = strata == stratum
        total = weights[rows].sum()
        yield (
            rows,
            {a: weights[rows & (x == a)].sum() / total for a in np.unique(x[rows])},
            {b: weights[rows & (y == b)].sum() / total for b in np.unique(y[rows])},
        )


def contingency(x, y, strata, weights, clusters):
    """Return weighted X2 and G2, their second-order Rao-Scott p-values, and the degrees of freedom of the tables."""
    scores, g2, dof = [], 0.0, 0
    for rows, of_x, of_y in tables(x, y, strata, weights):
        total = weights[rows].sum()
        dof += (len(of_x) - 1) * (len(of_y) - 1)
        for (a, p), (b, q) in itertools.product(of_x.items(), of_y.items()):
            scores.append(weights * rows * ((x == a) - p) * ((y == b) - q) / np.sqrt(total * p * q))
            observed = weights[rows & (x == a) & (y == b)].sum()
            g2 += 2 * observed * np.log(observed / (total * p * q)) if observed else 0.0
    scores = np.array(scores).T
    x2 = np.sum(scores.sum(axis=0) ** 2)
    covariance = variance_of_sum(scores, clusters, 0)
    rest = len(np.unique(clusters)) - 1
    return x2, g2, *(rao_scott_p(one, covariance, rest) for one in (x2, g2)), dof


def logistic_scores(y, x, given, weights):
    """Return the scores, (n, r - 1), of x added to a multinomial regression on the given columns, and their covariance.

    Both are orthogonal to the scores of the smaller regression, which is fitted by a general optimiser.
    """
    n, classes = len(y), np.unique(y)
    smaller = np.column_stack([np.ones(n), *given])
    larger = np.column_stack([smaller, x])
    is_class = (y[:, None] == classes[1:]).astype(float)

    def probabilities(flat):
        exponents = np.column_stack([np.zeros(n), smaller @ flat.reshape(smaller.shape[1], -1)])
        return np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True))

    def loss(flat):
        p = probabilities(flat)
        gradient = smaller.T @ (weights[:, None] * (p[:, 1:] - is_class))
        return -np.sum(weights * np.log(p[np.arange(n), np.searchsorted(classes, y)])), gradient.ravel()

    start = np.zeros(smaller.shape[1] * (len(classes) - 1))
    p = probabilities(minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8}).x)[:, 1:]
    k, q = larger.shape[1], len(classes) - 1
    scores, information = np.zeros((n, k * q)), np.zeros((k * q, k * q))
    for i in range(n):
        scores[i] = weights[i] * np.kron(larger[i], is_class[i] - p[i])
        information += weights[i] * np.kron(np.outer(larger[i], larger[i]), np.diag(p[i]) - np.outer(p[i], p[i]))
    old, new = slice(0, (k - 1) * q), slice((k - 1) * q, k * q)
    slopes = np.linalg.solve(information[old, old], information[old, new])
    return scores[:, new] - scores[:, old] @ slopes, information[new, new] - information[new, old] @ slopes
