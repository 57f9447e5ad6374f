"""The watch's own mistakes never reach the watched run."""

import functools
from collections.abc import Callable
from typing import Any


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn an exception in a method of the recorder into a note in `recorder.errors`."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            if len(self.errors) < 20:
                self.errors.append(f"{method.__name__}: {type(error).__name__}: {error}")
            return None

    return run
