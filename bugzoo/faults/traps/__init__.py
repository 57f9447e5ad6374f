"""Healthy code that looks wrong."""
