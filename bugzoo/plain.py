"""Convert values to JSON: numbers that are not finite, arrays, and types that JSON does not have.

    json.dumps(plain(value), allow_nan=False)

JSON has neither NaN nor infinity. They become the strings NaN, Infinity and -Infinity, which any parser accepts and
`float()` reads back. Between our own processes, which are all Python, `finite=False` keeps them as numbers.
"""

import math
from collections.abc import Mapping
from typing import Any


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: Any, finite: bool = True) -> Any:
    """Return `value` as JSON types: arrays and sets become lists, keys become strings, other types become `str(value)`."""
    if isinstance(value, Mapping):
        return {str(key): plain(item, finite) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, finite) for item in value]
    if hasattr(value, "tolist"):  # numpy or torch: a single number or an array
        return plain(value.tolist(), finite)
    if isinstance(value, float) and finite:
        return _number(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
