"""Tensor shapes: view, permute, flatten, broadcasting."""
