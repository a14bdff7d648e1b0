"""Made-up tests with the size and the shape of CANNIER's: 89,668 rows, 18 columns.

Ten columns tell something, four are mixtures of those, four are noise. Half of them are drawn out to
the right, as counts and times are. The same numbers come out on every machine.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

ROWS, COLUMNS = 89_668, 18
SKEWED = range(0, COLUMNS, 2)


def make(positives, seed=7):
    """The table as 32-bit numbers, and which rows are positive: exactly so many."""
    table, label = make_classification(
        n_samples=3 * ROWS // 2,
        n_features=COLUMNS,
        n_informative=10,
        n_redundant=4,
        n_clusters_per_class=4,
        weights=[0.72],
        flip_y=0.02,
        class_sep=0.8,
        shuffle=False,
        random_state=seed,
    )
    chance = np.random.RandomState(seed)
    keep = np.concatenate(
        [
            chance.choice(np.flatnonzero(label == 0), ROWS - positives, replace=False),
            chance.choice(np.flatnonzero(label == 1), positives, replace=False),
        ]
    )
    chance.shuffle(keep)
    table, label = table[keep], label[keep] == 1
    table = table[:, chance.permutation(COLUMNS)]
    table[:, SKEWED] = np.exp(table[:, SKEWED] / 2)
    return table.astype(np.float32), label


def split(label, seed):
    """Four fifths to learn from and one fifth to ask, with equal shares of positive rows."""
    rows = np.arange(len(label))
    return train_test_split(rows, test_size=0.2, stratify=label, random_state=seed)
