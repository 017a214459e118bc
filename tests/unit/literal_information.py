"""The criteria of the filters by mutual information, each as its formula says, from scratch at every step."""

import numpy as np


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


def fcbf(X, c, threshold=0.0):
    """The two steps of Yu and Liu: order by symmetrical uncertainty; each, if still there, removes what follows it."""

    def su(x, y):
        total = entropy(x) + entropy(y)
        return 2 * information(x, y) / total if total > 0 else 0.0

    with_target = {j: round(su(X[:, j], c), 11) for j in range(X.shape[1])}
    order = sorted((j for j in with_target if with_target[j] > max(threshold, 1e-10)), key=lambda j: -with_target[j])
    p = 0
    while p < len(order):
        stronger = X[:, order[p]]
        order[p + 1 :] = [q for q in order[p + 1 :] if not su(stronger, X[:, q]) >= with_target[q] - 1e-10]
        p += 1
    return order
