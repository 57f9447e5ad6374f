"""Early imports for a notebook with a front end; `bugzoo.frontend` decides whether there is one."""

import importlib
import os
import threading
from typing import Any

from bugzoo.errors import UserError
from bugzoo.frontend import headless, kernel

__all__ = ["headless", "kernel", "load", "one_thread", "plain_errors", "warm_up"]

RUN = ("sklearn.datasets", "torch._dynamo")
"""Modules that a first run imports, and those that torch imports at the first optimizer step."""
SHOW = ("bugzoo.lab.view_widgets", "bugzoo.plots.comparison")
_one = threading.Lock()


def load(names: tuple[str, ...] = RUN) -> None:
    """Import these modules, one thread at a time.

    Two threads that import one of torch's circular packages at once see it half initialized. A run that is stopped
    during an import leaves it so until the kernel restarts. So a run starts only after these imports.
    """
    with _one:
        for name in names:
            importlib.import_module(name)


def plain_errors() -> None:
    """In a kernel, show a user's mistake as one message, without bugzoo's own traceback."""
    running = kernel()
    if running is None:
        return

    def tell(shell: Any, kind: Any, error: BaseException, *_: Any, **__: Any) -> None:
        shell._showtraceback(kind, error, [f"{kind.__name__}: {error}"])

    running.shell.set_custom_exc((UserError,), tell)


def one_thread() -> None:
    """In a kernel, compute with one thread unless OMP_NUM_THREADS is set.

    Sums depend on the number of threads, and the texts state what was measured with one. On two busy cores the review
    classifier took 75 s with two threads and 9 s with one.
    """
    if kernel() is None or os.environ.get("OMP_NUM_THREADS"):
        return
    import torch

    torch.set_num_threads(1)


def warm_up() -> None:
    """In a kernel with a front end, import in the background what the first run needs (about 2 s)."""
    if kernel() is None or headless():
        return
    threading.Thread(target=load, args=(SHOW[:1] + RUN + SHOW[1:],), name="bugzoo-warm-up", daemon=True).start()
