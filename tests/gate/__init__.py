"""The gate: every test in a fixed order of phases, a second chance for one that failed, one last line over everything."""
