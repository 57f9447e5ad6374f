"""Metrics that report the wrong number."""
