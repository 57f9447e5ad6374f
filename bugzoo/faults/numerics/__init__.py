"""NaN and inf: log, sqrt, exp and division at the wrong place."""
