"""The criteria of the filters by mutual information, each as its formula says, from scratch at every step."""

import math
from collections import Counter

import numpy as np
from scipy import stats


def entropy(*columns):
    _, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    share = counts / counts.sum()
    return float(-np.sum(share * np.log(share)))


def information(x, y, *given):
    """I(X;Y|Z) = H(X,Z) + H(Y,Z) - H(X,Y,Z) - H(Z)."""
    rest = entropy(*given) if given else 0.0
    return entropy(x, *given) + entropy(y, *given) - entropy(x, y, *given) - rest


I = information  # noqa: E741 as the papers write it


def mim(x, c, S):
    return I(x, c)


def mifs(x, c, S, beta=1.0):
    return I(x, c) - beta * sum(I(x, f) for f in S)


def mrmr(x, c, S):
    return I(x, c) - (sum(I(x, f) for f in S) / len(S) if S else 0.0)


def cife(x, c, S):
    return I(x, c) - sum(I(x, f) for f in S) + sum(I(x, f, c) for f in S)


def jmi(x, c, S):
    if not S:
        return I(x, c)
    return I(x, c) - sum(I(x, f) for f in S) / len(S) + sum(I(x, f, c) for f in S) / len(S)


def disr(x, c, S):
    if not S:
        return I(x, c)
    both = [np.unique(np.column_stack([x, f]), axis=0, return_inverse=True)[1].ravel() for f in S]
    return sum(I(xf, c) / entropy(x, f, c) if entropy(x, f, c) > 0 else 0.0 for xf, f in zip(both, S, strict=True))


def cmim(x, c, S):
    return min([I(x, c), *(I(x, c, f) for f in S)])


def informative_fragments(x, c, S):
    """Eq. 39."""
    return I(x, c) - max((I(x, f) - I(x, f, c) for f in S), default=0.0)


def mri(x, c, S):
    return I(x, c) + sum(I(c, x, f) + I(c, f, x) for f in S)


def relax_mrmr(x, c, S):
    n = len(S)
    score = jmi(x, c, S)
    if n > 1:
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        score -= sum(I(x, S[j], S[i]) for i, j in pairs) / len(pairs)
    return score


def relax_mrmr_eq44(x, c, S):
    n = len(S)
    inner = [I(x, S[i]) + sum(I(x, S[j], S[i]) for j in range(n) if j != i) for i in range(n)]
    return I(x, c) + sum(I(x, f, c) for f in S) - (sum(inner) / n if S else 0.0)


def mimr(x, c, S, balance=0.5):
    interaction = sum(I(x, f, c) - I(x, f) for f in S) / len(S) if S else 0.0
    return (1 - balance) * I(x, c) + balance * interaction


def best_pair(X, c, balance):
    """Equal pairs: the first; the more relevant first."""
    best, pair = -np.inf, []
    varying = [j for j in range(X.shape[1]) if len(set(X[:, j])) > 1]
    for i in varying:
        for j in varying[varying.index(i) + 1 :]:
            x, f = X[:, i], X[:, j]
            score = (1 - balance) * (I(x, c) + I(f, c)) + balance * (I(x, f, c) - I(x, f))
            if score > best + 1e-11:
                best, pair = score, [i, j]
    return pair if not pair or I(X[:, pair[0]], c) > I(X[:, pair[1]], c) - 1e-11 else pair[::-1]


# --- adjusted for chance ---------------------------------------------------------------------------------------------


def chance(x, y, *given):
    """Return mean and standard deviation of I(X;Y|Z) where Y is permuted within the strata of Z.

    The mean is the sum over the cells of what each is on average, by the chances of its counts; the standard deviation
    that of a chi-square distribution with this mean.
    """
    mean, dof = 0.0, 0
    strata = [tuple(row) for row in np.column_stack(given)] if given else [()] * len(x)
    for stratum in set(strata):
        rows = [i for i, other in enumerate(strata) if other == stratum]
        t, of_x, of_y = len(rows), Counter(x[i] for i in rows), Counter(y[i] for i in rows)
        dof += (len(of_x) - 1) * (len(of_y) - 1)
        for a in of_x.values():
            for b in of_y.values():
                for count in range(max(1, a + b - t), min(a, b) + 1):
                    share = math.comb(b, count) * math.comb(t - b, a - count) / math.comb(t, a)
                    mean += share * count / len(x) * math.log(t * count / (a * b))
    return mean, mean * math.sqrt(2 / dof) if dof else 0.0


def gain(x, y, *given):
    """I(X;Y|Z) where it counts for a feature: less its mean by chance and 2.33 standard deviations."""
    mean, deviation = chance(x, y, *given)
    return information(x, y, *given) - mean - 2.33 * deviation


def loss(x, y, *given):
    """I(X;Y|Z) where it counts against a feature: less its mean by chance."""
    return information(x, y, *given) - chance(x, y, *given)[0]


def mean_of(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def adjusted_disr(x, c, S):
    return sum((gain(f, c) + gain(x, c, f)) / entropy(x, f, c) for f in S) if S else gain(x, c)


def adjusted_relax_mrmr(x, c, S):
    pairs = [(f, g) for i, f in enumerate(S) for j, g in enumerate(S) if i != j]
    score = gain(x, c) + mean_of(gain(x, f, c) for f in S) - mean_of(loss(x, f) for f in S)
    return score - mean_of(loss(x, g, f) for f, g in pairs)


def adjusted_relax_mrmr_eq44(x, c, S):
    rest = sum(loss(x, f) for f in S) + sum(loss(x, g, f) for f in S for g in S if g is not f)
    return gain(x, c) + sum(gain(x, f, c) for f in S) - (rest / len(S) if S else 0.0)


def adjusted_mimr(x, c, S, balance=0.5):
    interaction = mean_of(gain(x, f, c) - loss(x, f) for f in S)
    return (1 - balance) * gain(x, c) + balance * interaction


ADJUSTED = {
    "mim": lambda x, c, S: gain(x, c),
    "mifs": lambda x, c, S: gain(x, c) - sum(loss(x, f) for f in S),
    "mrmr": lambda x, c, S: gain(x, c) - mean_of(loss(x, f) for f in S),
    "cife": lambda x, c, S: gain(x, c) - sum(loss(x, f) for f in S) + sum(gain(x, f, c) for f in S),
    "jmi": lambda x, c, S: mean_of(gain(x, c, f) for f in S) if S else gain(x, c),
    "disr": adjusted_disr,
    "cmim": lambda x, c, S: min([gain(x, c), *(gain(x, c, f) for f in S)]),
    "if": lambda x, c, S: min([gain(x, c, f) for f in S], default=gain(x, c)),
    # I(F;T|X) is I(F;T) + I(X;T|F) - I(X;T).
    "mri": lambda x, c, S: gain(x, c) + sum(gain(x, c, f) + gain(f, c) + gain(x, c, f) - gain(x, c) for f in S),
    "relax-mrmr": adjusted_relax_mrmr,
    "relax-mrmr, eq. 44": adjusted_relax_mrmr_eq44,
    "mimr": adjusted_mimr,
    "mimr, balance 0.2": lambda x, c, S: adjusted_mimr(x, c, S, 0.2),
}


def ranking(X, c, psi, criterion, first=()):
    """Return the columns that vary in the order of the greedy search, the first of equals, and their scores."""
    varying = [j for j in range(X.shape[1]) if len(set(X[:, j])) > 1]
    ranked, scores = [], []
    while len(ranked) < min(psi, len(varying)):
        S = [X[:, j] for j in ranked]
        left = [j for j in varying if j not in ranked]
        score = {j: criterion(X[:, j], c, S) for j in left}
        best = first[len(ranked)] if len(ranked) < len(first) else None
        if best is None:
            best = next(j for j in left if score[j] > max(score.values()) - 1e-11)
        ranked.append(best)
        scores.append(score[best])
    return ranked, scores


def dependence_p_value(x, c):
    """The chi-square test of G2, after it is scaled to have the mean of that distribution."""
    n, dof = len(x), (len(set(x)) - 1) * (len(set(c)) - 1)
    return stats.chi2.sf(2 * n * information(x, c) * dof / (2 * n * chance(x, c)[0]), dof)


def fcbf(X, c, threshold=0.0, alpha=None, measure=information):
    """The two steps of Yu and Liu: order by symmetrical uncertainty; each, if still there, removes what follows it."""

    def su(x, y):
        total = entropy(x) + entropy(y)
        return 2 * measure(x, y) / total if total > 0 else 0.0

    varying = [j for j in range(X.shape[1]) if len(set(X[:, j])) > 1]
    with_target = {
        j: round(su(X[:, j], c), 11) for j in varying if alpha is None or dependence_p_value(X[:, j], c) <= alpha
    }
    order = sorted((j for j in with_target if with_target[j] > max(threshold, 1e-10)), key=lambda j: -with_target[j])
    p = 0
    while p < len(order):
        stronger = X[:, order[p]]
        order[p + 1 :] = [q for q in order[p + 1 :] if not su(stronger, X[:, q]) >= with_target[q] - 1e-10]
        p += 1
    return order
