"""Weight initialization: too large, too small, zero, dead ReLUs."""
