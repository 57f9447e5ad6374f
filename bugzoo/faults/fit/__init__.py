"""Underfitting, overfitting, and evaluation on the training set."""
