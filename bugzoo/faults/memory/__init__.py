"""GPU and CPU memory: leaks, and more than there is (OOM)."""
