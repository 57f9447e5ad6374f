"""Seeds, generators, and runs that differ."""
