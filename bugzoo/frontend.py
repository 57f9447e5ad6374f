"""Is somebody looking? Widgets in a notebook that is open in a browser; text and a picture everywhere else."""

import os
import textwrap
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


WIDE = 96
"""Letters to a line of a notebook's page; JupyterLab breaks a longer one in the middle of a word."""


def fit(text: str, indent: str = "    ") -> str:
    """The text as it is printed: lines that are too long are broken between words where somebody looks, else left alone."""
    if headless():
        return text
    how = {"width": WIDE, "subsequent_indent": indent, "break_long_words": False, "break_on_hyphens": False}
    return "\n".join(
        textwrap.fill(line, drop_whitespace=True, **how) if len(line) > WIDE else line for line in text.splitlines()
    )
