"""Checkpoints: what is lost when a run is stopped and resumed."""
