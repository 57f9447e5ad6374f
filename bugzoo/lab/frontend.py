"""What a notebook that somebody looks at needs early; whether somebody looks is `bugzoo.frontend`'s to say."""

import importlib
import threading
from typing import Any

from bugzoo.errors import UserError
from bugzoo.frontend import headless, kernel

__all__ = ["headless", "kernel", "load", "plain_errors", "warm_up"]

RUN = ("sklearn.datasets", "torch._dynamo")
"""What a first run imports on its way, and torch only when the first optimiser steps."""
SHOW = ("bugzoo.lab.view_widgets", "bugzoo.plots.comparison")
_one = threading.Lock()


def load(names: tuple[str, ...] = RUN) -> None:
    """Import these, one thread at a time.

    Two threads that import one of torch's circular packages at once meet it half made, and a run that is stopped in the
    middle of an import leaves it so for the rest of the kernel's life: a run begins when they are there.
    """
    with _one:
        for name in names:
            importlib.import_module(name)


def plain_errors() -> None:
    """In a kernel: a mistake of the user's is one message, without the lines of ours that found it."""
    running = kernel()
    if running is None:
        return

    def tell(shell: Any, kind: Any, error: BaseException, *_: Any, **__: Any) -> None:
        shell._showtraceback(kind, error, [f"{kind.__name__}: {error}"])

    running.shell.set_custom_exc((UserError,), tell)


def warm_up() -> None:
    """In a kernel with a front end: import in the background what the first run needs (about 2 s)."""
    if kernel() is None or headless():
        return
    threading.Thread(target=load, args=(SHOW[:1] + RUN + SHOW[1:],), name="bugzoo-warm-up", daemon=True).start()
