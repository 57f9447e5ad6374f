"""Silence re-run code: no output, no warnings."""

import contextlib
import io
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Drop the output of Python code to stdout and stderr, and its warnings."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
