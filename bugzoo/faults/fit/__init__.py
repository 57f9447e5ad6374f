"""Underfitting, overfitting, and evaluation on the training set."""

from bugzoo.faults.model import Cause

CAUSE = Cause("a model or training of the wrong size", also=("underfitting", "capacity", "too few epochs"))
