#!/usr/bin/env python3
"""Write a forest of scikit-learn's as JSON that `Forest::from_scikit_learn` reads.

    export.py fixture FILE     a small forest with what scikit-learn and shap say, for the tests
"""

import json
import sys

import numpy as np


def exported(model):
    trees = []
    for estimator in model.estimators_:
        tree = estimator.tree_
        share = tree.value[:, 0, 1] / tree.value[:, 0, :].sum(axis=1)
        trees.append(
            {
                "children_left": tree.children_left.tolist(),
                "children_right": tree.children_right.tolist(),
                "feature": tree.feature.tolist(),
                "threshold": tree.threshold.tolist(),
                "value": share.tolist(),
                "weighted_n_node_samples": tree.weighted_n_node_samples.tolist(),
                "missing_go_to_left": tree.missing_go_to_left.astype(int).tolist(),
            }
        )
    return {"features": int(model.n_features_in_), "trees": trees}


def explained(model, table):
    """shap's base value and values for the positive class."""
    import shap

    explainer = shap.TreeExplainer(model)
    values = explainer.shap_values(table, check_additivity=False)
    return float(np.ravel(explainer.expected_value)[1]), values[:, :, 1]


def fixture(path):
    from sklearn.datasets import make_classification
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    table, label = make_classification(220, 6, n_informative=4, flip_y=0.1, random_state=3)
    table = table.astype(np.float32)
    table[:, 5] = np.round(table[:, 5])
    cases = []
    for kind in [RandomForestClassifier, ExtraTreesClassifier]:
        model = kind(5, class_weight="balanced", random_state=1).fit(table[:160], label[:160])
        asked = table[150:170]
        base, values = explained(model, asked)
        cases.append(
            {
                "kind": kind.__name__,
                "forest": exported(model),
                "rows": asked.astype(float).tolist(),
                "probabilities": model.predict_proba(asked)[:, 1].tolist(),
                "base": base,
                "shap": values.tolist(),
            }
        )
    with open(path, "w") as out:
        json.dump(cases, out)
        out.write("\n")


if __name__ == "__main__":
    fixture(sys.argv[2])
