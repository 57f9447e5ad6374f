"""Is somebody looking? Widgets in a notebook that is open in a browser; text and a picture everywhere else."""

import os
from typing import Any


def kernel() -> Any:
    """The running IPython kernel, None outside one."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return getattr(get_ipython(), "kernel", None)


def headless() -> bool:
    """Whether this cell runs without a front end that can show widgets: nbgrader, nbclient, nbval, a plain script.

    JupyterLab, Notebook 7 and VS Code name the cell in the request that runs it; the clients of Jupyter's Python
    library do not. `BUGZOO_WIDGETS=1` or `=0` decides where this guess is wrong.
    """
    if os.environ.get("BUGZOO_WIDGETS") in ("0", "1"):
        return os.environ["BUGZOO_WIDGETS"] == "0"
    if os.environ.get("NBGRADER_EXECUTION"):
        return True
    running = kernel()
    if running is None:
        return True
    try:
        request = running.get_parent("shell") or {}
    except (AttributeError, LookupError, TypeError):
        return True
    named = {"cellId", "deletedCells", "recordTiming", "colab"} & set(request.get("metadata") or {})
    # a button's callback arrives as a comm message, which only a front end can send
    message = (request.get("header") or {}).get("msg_type", "")
    return not (named or message.startswith("comm_"))
