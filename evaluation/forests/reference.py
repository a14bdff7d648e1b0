#!/usr/bin/env python3
"""The peers: imbalanced-learn, scikit-learn and shap, each asked for what `forest_benchmark` does.

    reference.py data FOLDER                               write the tables
    reference.py fit POSITIVES KIND TREES SEED BALANCE     two threads; one line of JSON
    reference.py quality POSITIVES KIND TREES SEED
    reference.py shap POSITIVES KIND TREES ROWS MODEL      writes the model for the other side
"""

import json
import resource
import sys
import time

import numpy as np
from imblearn.combine import SMOTEENN, SMOTETomek
from imblearn.over_sampling import SMOTE
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, matthews_corrcoef, roc_auc_score

import data
from export import explained, exported

KINDS = {"random-forest": RandomForestClassifier, "extra-trees": ExtraTreesClassifier}
BALANCES = {"smote": SMOTE, "smote-enn": SMOTEENN, "smote-tomek": SMOTETomek}
THREADS = 2
# The fastest of so many predictions counts, on both sides.
TRIES = 5


class Clock:
    def __init__(self):
        self.begin, self.worked = time.perf_counter(), worked()

    def read(self):
        return time.perf_counter() - self.begin, worked() - self.worked


def worked():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def write_tables(folder):
    for positives in [158, 19_231]:
        table, label = data.make(positives)
        write_table(f"{folder}/{positives}.table", table, label)
        asked, truth = data.fresh(positives)
        path = f"{folder}/{positives}-and-fresh"
        write_table(f"{path}.table", np.vstack([table, asked]), np.concatenate([label, truth]))
        # One byte a row: 1 where it is asked.
        np.repeat(np.array([0, 1], dtype="u1"), [len(label), len(truth)]).tofile(f"{path}.split")


def write_table(path, table, label):
    with open(path, "wb") as out:
        out.write(np.array(table.shape, dtype="<u4").tobytes())
        out.write(table.astype("<f4").tobytes())
        out.write(label.astype("u1").tobytes())


def fit(positives, kind, trees, seed, balance):
    table, label = data.make(int(positives))
    clock = Clock()
    grown, labels = BALANCES[balance](random_state=int(seed)).fit_resample(table, label)
    balanced = clock.read()
    model = KINDS[kind](int(trees), n_jobs=THREADS, random_state=int(seed)).fit(grown, labels)
    fitted = clock.read()
    predicted = (float("inf"), float("inf"))
    for _ in range(TRIES):
        clock = Clock()
        shares = model.predict_proba(table)[:, 1]
        predicted = tuple(map(min, predicted, clock.read()))
    return {
        "rows": len(grown),
        "nodes": sum(estimator.tree_.node_count for estimator in model.estimators_),
        "balance_s": balanced[0],
        "balance_cpu_s": balanced[1],
        "fit_s": fitted[0],
        "fit_cpu_s": fitted[1],
        "predict_s": predicted[0],
        "predict_cpu_s": predicted[1],
        "mean": float(shares.mean()),
    }


def quality(positives, kind, trees, seed):
    table, label = data.make(int(positives))
    asked, truth = data.fresh(int(positives))
    grown, labels = SMOTE(random_state=int(seed)).fit_resample(table, label)
    model = KINDS[kind](int(trees), n_jobs=THREADS, random_state=int(seed)).fit(grown, labels)
    shares = model.predict_proba(asked)[:, 1]
    return {
        "mcc": matthews_corrcoef(truth, shares > 0.5),
        "f1": f1_score(truth, shares > 0.5),
        "auc": roc_auc_score(truth, shares),
        "average_precision": average_precision_score(truth, shares),
        "brier": brier_score_loss(truth, shares),
    }


def explain(positives, kind, trees, rows, path):
    table, label = data.make(int(positives))
    grown, labels = SMOTE(random_state=1).fit_resample(table, label)
    model = KINDS[kind](int(trees), n_jobs=THREADS, random_state=1).fit(grown, labels)
    with open(path, "w") as out:
        json.dump(exported(model), out)
    asked = table[: int(rows)]
    explained(model, asked[:1])
    clock = Clock()
    base, values = explained(model, asked)
    taken = clock.read()
    return {
        "rows": len(asked),
        "nodes": sum(estimator.tree_.node_count for estimator in model.estimators_),
        "shap_s": taken[0],
        "shap_cpu_s": taken[1],
        "base": base,
        "probabilities": model.predict_proba(asked)[:, 1].tolist(),
        "values": np.ravel(values).tolist(),
    }


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    asked = {"data": write_tables, "fit": fit, "quality": quality, "shap": explain}
    found = asked[what](*rest)
    if found is not None:
        print(json.dumps(found))
