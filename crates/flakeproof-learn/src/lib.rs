//! Learns from labelled tests: nearest neighbours, folds, scores and the model file.
