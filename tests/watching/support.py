"""Running a script's text with and without a watch."""

import contextlib
import io
import linecache
import random
from typing import Any

import numpy as np
import torch

from bugzoo.watching import Trace, watch


def run(source: str, name: str, watched: bool, **settings: Any) -> tuple[dict[str, Any], Trace | None]:
    """Execute `source` as a script called `name`; returns its namespace and, when watched, the trace."""
    torch.manual_seed(11)
    np.random.seed(11)
    random.seed(11)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": "__main__", "__file__": name}
    code = compile(source, name, "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        if not watched:
            exec(code, names)
            return names, None
        with watch(**settings) as trace:
            exec(code, names)
    assert "watch_errors" not in trace.environment, trace.environment["watch_errors"]
    return names, trace


def reach(trace: Trace) -> tuple[int, int]:
    """First and last step that can be run again."""
    return trace.live.past.history.reach()


def random_states() -> tuple[bytes, str, str]:
    """torch's, numpy's and Python's global states, comparable."""
    return torch.get_rng_state().numpy().tobytes(), str(np.random.get_state()), str(random.getstate())


def plain(value: Any) -> Any:
    """What can be compared with ==, to the last bit, of a script's namespace."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().tobytes()
    if isinstance(value, torch.nn.Module):
        return {name: plain(item) for name, item in value.state_dict().items()}
    if isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return None


def comparable(names: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in names.items() if not name.startswith("__")}
