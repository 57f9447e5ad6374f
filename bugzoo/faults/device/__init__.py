"""Tensors and layers on the wrong device."""
