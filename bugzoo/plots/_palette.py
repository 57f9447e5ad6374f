"""The colors of all plots of the lab: one for each role, and others for what has no role. No other file names a color.

Each has a contrast of at least 3 : 1 on white and on JupyterLab's dark page (#111111). Lines that share a plot also
differ in their style or in the name at their end, as no palette of this size is distinct with every color vision.
"""

from collections.abc import Iterable

# Okabe and Ito, "Color Universal Design" (2008)
HEALTHY, THIS_RUN, RIVAL, REPAIR = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
"""The healthy twin is blue, the incident or the run that is looked at vermilion, its rival green, a repair pink."""
INK = "#797979"
"""Text, axes and events. No gray has 4.5 : 1 on both pages; this one has the most, 4.34 : 1 on each."""
GUESS = REFERENCE = INK
"""What the reader drew is a dotted line with points, a value to compare with a thin dashed one, with its name."""
SERIES = ("#8A5CF0", "#9A8200", "#B3408A", "#1FA0C8", "#94613B")
"""Violet, olive, wine, cyan and brown, in this order, for what has no role."""
ON_COLOR = "#111111"
"""Text and edges on one of the other colors."""
STYLES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
ROLES = {HEALTHY: ("healthy", "twin"), RIVAL: ("rival",), REPAIR: ("repair",),
         THIS_RUN: ("incident", "this run", "this choice", "broken")}  # fmt: skip
"""Color -> words of a name that tell its role."""


def colors_of(names: Iterable[str]) -> dict[str, str]:
    """Return name -> color: that of the first role whose word is in the name, else the next of SERIES."""
    colors: dict[str, str] = {}
    for name in names:
        roles = [color for color, words in ROLES.items() if any(word in name for word in words)]
        series = [color for color in colors.values() if color in SERIES]
        colors[name] = roles[0] if roles else SERIES[len(series) % len(SERIES)]
    return colors
