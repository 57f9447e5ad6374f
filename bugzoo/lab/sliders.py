"""Sliders for a fault's parameters, with their ranges, and for a program's settings, with their defaults."""

import math
from typing import Any

import ipywidgets as w

WIDE = w.Layout(width="520px")
LABELS = {"description_width": "130px"}


def decades(low: float, high: float, default: float) -> list[float]:
    """Return powers of ten within [low, high], plus 0 if it is allowed and the default itself."""
    values = {default}
    if low <= 0:
        values.add(0.0)
    bottom = math.floor(math.log10(low)) if low > 0 else -12
    top = math.floor(math.log10(high)) if high > 0 else bottom
    values |= {float(f"1e{power}") for power in range(bottom, top + 1)}
    return sorted(value for value in values if low <= value <= high)


def slider(name: str, default: Any, low: float, high: float, doc: str = "") -> Any:
    """Return a slider for one number; a wide range of fractions moves in powers of ten."""
    common = {"description": name, "tooltip": doc, "layout": WIDE, "style": LABELS, "continuous_update": False}
    if isinstance(default, int):
        # a range such as 0 to 100,000 is useless on 400 pixels
        top = int(min(high, max(4 * default, low + 10)))
        return w.IntSlider(value=default, min=int(low), max=top, **common)
    if low <= 0 or high / low >= 100:
        options = [(f"{value:g}", value) for value in decades(low, high, default)]
        return w.SelectionSlider(options=options, value=default, **common)
    return w.FloatSlider(value=default, min=low, max=high, step=(high - low) / 100, readout_format=".3g", **common)


def setting(name: str, default: Any) -> Any:
    """Return a slider for one of a program's settings."""
    if isinstance(default, bool):
        return w.Checkbox(value=default, description=name, style=LABELS)
    if name == "seed":
        return w.IntSlider(value=default, min=0, max=20, description=name, layout=WIDE, style=LABELS)
    if isinstance(default, int):
        return slider(name, default, 1, 4 * default)
    if isinstance(default, float):
        return slider(name, default, default / 100, default * 1000)
    return w.Text(value=str(default), description=name, layout=WIDE, style=LABELS)
