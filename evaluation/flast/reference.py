#!/usr/bin/env python3
"""Peer of the benchmark: the FLAST pipeline (Verdecchia et al., 2021) on scikit-learn.

    CountVectorizer() -> SparseRandomProjection(eps) -> KNeighborsClassifier(cosine, brute, k)

A test is flaky if phi / (phi + psi) >= sigma, where phi and psi are the sums of 1 / distance over
its flaky and non-flaky neighbours among the k nearest.  A non-flaky neighbour at distance exactly 0
decides "not flaky"; failing that, a flaky neighbour at distance 0 decides "flaky".

    reference.py --data tests.jsonl.zst --protocol speed
    reference.py --data tests.jsonl.zst --protocol random|class|project --seed 1

Splits (rows = rows of the file without project google-jimfs, in file order; K = 10 folds)
    key(i) = splitmix64(seed * 2^32 + i)            (64-bit, wrapping)
    random : order the flaky rows by key(row number), deal them to folds 0, 1, .., 9, 0, ..; then
             the non-flaky rows by key, dealt in the same way, starting at fold 0 again.
    class  : groups = distinct (project, class), numbered by first appearance; order them by
             (more flaky rows first, then key(group number)).  Each group in turn goes to the fold
             with the fewest flaky rows if the group has flaky rows, else to the fold with the
             fewest rows (ties: fewest rows, then lowest fold number).
    project: one fold for each project, in order of first appearance.
Results are pooled over all folds.  As in the original, words and projection are fitted on all rows
(no labels are used there).
"""
import argparse
import io
import json
import os
import time

for _var in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_var, "1")

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.random_projection import SparseRandomProjection, johnson_lindenstrauss_min_dim

FOLDS = 10


def load(path, drop=("google-jimfs",)):
    """Rows of a .jsonl or .jsonl.zst file, in file order."""
    if path.endswith(".zst"):
        import zstandard

        with open(path, "rb") as raw:
            text = zstandard.ZstdDecompressor().stream_reader(raw).read().decode("utf-8")
    else:
        with open(path, encoding="utf-8") as raw:
            text = raw.read()
    rows = [json.loads(line) for line in io.StringIO(text) if line.strip()]
    return [row for row in rows if row["project"] not in drop]


def splitmix64(x):
    x = np.asarray(x, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def keys(seed, n):
    return splitmix64((np.uint64(seed) << np.uint64(32)) + np.arange(n, dtype=np.uint64))


def numbered(values):
    """Number distinct values by first appearance."""
    seen = {}
    return np.array([seen.setdefault(value, len(seen)) for value in values])


def folds_of(rows, protocol, seed):
    """Fold number of every row."""
    flaky = np.array([row["flaky"] for row in rows], dtype=bool)
    if protocol == "project":
        return numbered([row["project"] for row in rows])
    if protocol == "random":
        key = keys(seed, len(rows))
        fold = np.empty(len(rows), dtype=int)
        for part in (np.flatnonzero(flaky), np.flatnonzero(~flaky)):
            fold[part[np.argsort(key[part], kind="stable")]] = np.arange(len(part)) % FOLDS
        return fold
    group = numbered([(row["project"], row["class"]) for row in rows])
    size = np.bincount(group)
    positives = np.bincount(group, weights=flaky).astype(int)
    key = keys(seed, len(size))
    rows_in, flaky_in, fold_of = [0] * FOLDS, [0] * FOLDS, {}
    for g in sorted(range(len(size)), key=lambda g: (-positives[g], int(key[g]))):
        if positives[g]:
            best = min(range(FOLDS), key=lambda f: (flaky_in[f], rows_in[f], f))
        else:
            best = min(range(FOLDS), key=lambda f: (rows_in[f], f))
        fold_of[g] = best
        rows_in[best] += int(size[g])
        flaky_in[best] += int(positives[g])
    return np.array([fold_of[g] for g in group])


def vectorise(texts, eps, seed, pattern=None, lowercase=True):
    options = {} if pattern is None else {"token_pattern": pattern}
    counts = CountVectorizer(lowercase=lowercase, **options).fit_transform(texts)
    if eps == 0:
        return counts.astype(float)
    dimensions = johnson_lindenstrauss_min_dim(counts.shape[0], eps=eps)
    return SparseRandomProjection(dimensions, random_state=seed).fit_transform(counts)


def vote(distance, neighbour_flaky, zero=0.0):
    """Score phi / (phi + psi) of every query; distances <= zero count as 0."""
    at_zero = distance <= zero
    with np.errstate(divide="ignore"):
        inverse = np.where(at_zero, 0.0, 1.0 / distance)
    phi = (inverse * neighbour_flaky).sum(axis=1)
    psi = (inverse * ~neighbour_flaky).sum(axis=1)
    with np.errstate(invalid="ignore"):
        score = np.where(phi + psi > 0, phi / (phi + psi), 0.0)
    score[(at_zero & neighbour_flaky).any(axis=1)] = 1.0
    score[(at_zero & ~neighbour_flaky).any(axis=1)] = 0.0
    return score


def fit(vectors, flaky, k):
    model = KNeighborsClassifier(
        algorithm="brute", metric="cosine", weights="distance", n_neighbors=k, n_jobs=1
    )
    return model.fit(vectors, flaky)


def metrics(flaky, predicted, score):
    tp = float((flaky & predicted).sum())
    fp = float((~flaky & predicted).sum())
    fn = float((flaky & ~predicted).sum())
    tn = float((~flaky & ~predicted).sum())
    root = ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    return {
        "precision": tp / (tp + fp) if tp + fp else 0.0,
        "recall": tp / (tp + fn) if tp + fn else 0.0,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp else 0.0,
        "mcc": (tp * tn - fp * fn) / root if root else 0.0,
        "ap": float(average_precision_score(flaky, score)),
    }


def cross_validate(rows, protocol, seed, k, sigma, eps, zero=0.0, **options):
    flaky = np.array([row["flaky"] for row in rows], dtype=bool)
    fold = folds_of(rows, protocol, seed)
    vectors = vectorise([row["source"] for row in rows], eps, seed, **options)
    score = np.zeros(len(rows))
    for f in range(fold.max() + 1):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        distance, index = fit(vectors[train], flaky[train], k).kneighbors(vectors[test])
        score[test] = vote(distance, flaky[train][index], zero)
    return metrics(flaky, score >= sigma, score)


def speed(rows, seed, k, sigma, eps):
    """Seconds to train on all rows and to predict all rows in bulk, sparse and dense."""
    texts = [row["source"] for row in rows]
    flaky = np.array([row["flaky"] for row in rows], dtype=bool)
    result = {"rows": len(rows)}
    for kind in ("sparse", "dense"):
        start = time.perf_counter()
        vectors = vectorise(texts, eps, seed)
        if kind == "dense":
            vectors = vectors.toarray()
        model = fit(vectors, flaky, k)
        trained = time.perf_counter()
        distance, index = model.kneighbors(vectors)
        predicted = vote(distance, flaky[index]) >= sigma
        done = time.perf_counter()
        result[kind] = {
            "train_s": round(trained - start, 3),
            "predict_s": round(done - trained, 3),
            "predict_ms_per_test": round((done - trained) / len(rows) * 1e3, 4),
            "dimensions": int(vectors.shape[1]),
            "predicted_flaky": int(predicted.sum()),
        }
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--protocol", choices=("random", "class", "project", "speed"), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--k", type=int, default=7)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--eps", type=float, default=0.33)
    args = parser.parse_args()
    rows = load(args.data)
    head = {"protocol": args.protocol, "seed": args.seed, "k": args.k, "sigma": args.sigma, "eps": args.eps}
    if args.protocol == "speed":
        body = speed(rows, args.seed, args.k, args.sigma, args.eps)
    else:
        body = cross_validate(rows, args.protocol, args.seed, args.k, args.sigma, args.eps)
    print(json.dumps({**head, **body}))


if __name__ == "__main__":
    main()
