"""One way to JSON: numbers that are not finite, arrays, and what JSON has no word for.

    json.dumps(plain(value), allow_nan=False)

JSON knows neither NaN nor infinity. They become the texts NaN, Infinity and -Infinity, which any reader takes and which
`float()` reads back. Between our own processes, where Python reads what Python wrote, `finite=False` leaves them numbers.
"""

import math
from collections.abc import Mapping
from typing import Any


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: Any, finite: bool = True) -> Any:
    """`value` as JSON knows it: arrays and sets become lists, keys texts, and anything that is strange its text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item, finite) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, finite) for item in value]
    if hasattr(value, "tolist"):  # of numpy or torch: one number as well as an array
        return plain(value.tolist(), finite)
    if isinstance(value, float) and finite:
        return _number(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
