"""Made-up tests with the size and the shape of CANNIER's: 89,668 rows, 18 columns.

Ten columns tell something, four are mixtures of those, four are noise. Half of them are drawn out to
the right, as counts and times are. The same numbers come out on every machine.
"""

import numpy as np
from sklearn.datasets import make_classification

ROWS, COLUMNS = 89_668, 18
FRESH = 20_000
SKEWED = range(0, COLUMNS, 2)


def make(positives, seed=7):
    """The table as 32-bit numbers, and which rows are positive: exactly so many."""
    return drawn(positives, seed)[0]


def fresh(positives, seed=7):
    """Rows of the same kind that are not in the table, with the share of positive rows there is."""
    return drawn(positives, seed)[1]


def drawn(positives, seed):
    table, label = make_classification(
        n_samples=3 * ROWS // 2,
        n_features=COLUMNS,
        n_informative=10,
        n_redundant=4,
        n_clusters_per_class=3,
        weights=[0.72],
        flip_y=0.01,
        class_sep=1.2,
        shuffle=False,
        random_state=seed,
    )
    table = table.astype(np.float32)
    chance = np.random.RandomState(seed)
    table = table[:, chance.permutation(COLUMNS)]
    table[:, SKEWED] = np.exp(table[:, SKEWED] / 2)
    keep = np.concatenate(
        [
            chance.choice(np.flatnonzero(label == 0), ROWS - positives, replace=False),
            chance.choice(np.flatnonzero(label == 1), positives, replace=False),
        ]
    )
    chance.shuffle(keep)
    rest = chance.permutation(np.setdiff1d(np.arange(len(label)), keep))[:FRESH]
    return [(table[rows], label[rows] == 1) for rows in (keep, rest)]
