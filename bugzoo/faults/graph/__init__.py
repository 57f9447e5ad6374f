"""The computation graph: detach, in-place operations, casts."""
