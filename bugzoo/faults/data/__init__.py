"""The data: leakage, shuffling, normalization, labels, vocabulary."""
