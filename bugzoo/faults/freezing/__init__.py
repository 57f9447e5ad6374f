"""Frozen parameters, and parameters that the optimizer does not hold."""
