"""Reading lines from a person or a pipe, with a deadline."""

import os
import select
import time
from typing import TextIO


class TimeOver(Exception):
    """No line came before the deadline."""


class Lines:
    """Reader of lines from a stream; `next()` waits no longer than its deadline.

    A real file is read through its descriptor, as select() does not see text that Python has buffered.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._kept, self._ended = stream, b"", False
        self.at_terminal = stream.isatty()
        try:
            self._descriptor: int | None = stream.fileno() if os.name == "posix" else None
        except (OSError, ValueError, AttributeError):
            self._descriptor = None

    def next(self, deadline: float) -> str:
        """Return the next line without its end. Raises EOFError at the end of the stream, TimeOver at the deadline.

        `deadline` is a time of time.monotonic().
        """
        if self._descriptor is None:
            return self._plain(deadline)
        while b"\n" not in self._kept:
            if self._ended:
                if not self._kept:
                    raise EOFError
                self._kept += b"\n"
                break
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                raise TimeOver
            try:
                chunk = os.read(self._descriptor, 65536)
            except OSError:  # opened for writing, or a closed terminal: there is no more input
                chunk = b""
            self._ended = not chunk
            self._kept += chunk
        if time.monotonic() > deadline:
            raise TimeOver
        line, _, self._kept = self._kept.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    def _plain(self, deadline: float) -> str:
        # without select() this waits for the line; a late line still counts as late
        line = self._stream.readline()
        if time.monotonic() > deadline:
            raise TimeOver
        if not line:
            raise EOFError
        return line.rstrip("\r\n")
