"""Keep what a script printed: at most the first and the last part of it."""

import io
import sys
import threading
from collections import deque
from typing import Any


class HeadTail:
    """Keeps the first and the last `limit / 2` bytes (or characters) and counts the dropped ones."""

    def __init__(self, limit: int) -> None:
        self.half = max(1, limit // 2)
        self.head: list[Any] = []
        self.tail: deque[Any] = deque()
        self.head_size = self.tail_size = self.dropped = 0

    def add(self, piece: Any) -> None:
        """Add a piece: str or bytes, always the same type."""
        room = self.half - self.head_size
        if room > 0:
            self.head.append(piece[:room])
            self.head_size += len(self.head[-1])
            piece = piece[room:]
        if not piece:
            return
        if len(piece) > self.half:
            self.dropped += len(piece) - self.half
            piece = piece[-self.half :]
        self.tail.append(piece)
        self.tail_size += len(piece)
        while self.tail_size - len(self.tail[0]) >= self.half:
            lost = len(self.tail.popleft())
            self.tail_size -= lost
            self.dropped += lost

    def text(self) -> str:
        """Return the kept text, with a line where something is missing."""
        cut = max(0, self.tail_size - self.half) if self.dropped else 0
        gap = f"\n[... {self.dropped + cut:,} characters not kept ...]\n" if self.dropped else ""
        if self.head and isinstance(self.head[0], bytes):
            head, tail = b"".join(self.head), b"".join(self.tail)[cut:]
            return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
        return "".join(self.head) + gap + "".join(self.tail)[cut:]


class Tee(io.TextIOBase):
    """Replaces `sys.stdout` or `sys.stderr` while one thread runs a script.

    That thread's text goes to `kept` and, if `passing`, also to the original stream. Other threads write as usual.
    """

    def __init__(self, behind: Any, kept: HeadTail, passing: bool) -> None:
        self.behind, self.kept, self.passing = behind, kept, passing
        self.owner = threading.get_ident()

    def write(self, text: str) -> int:
        owned = threading.get_ident() == self.owner
        if owned:
            self.kept.add(text)
        if self.passing or not owned:
            self.behind.write(text)
        return len(text)

    def flush(self) -> None:
        self.behind.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self.behind.fileno()

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "utf-8"

    def __getattr__(self, name: str) -> Any:
        # ipykernel tells its stream which cell is running; without that, text appears under another cell
        return getattr(self.__dict__["behind"], name)


_retired: deque[io.TextIOBase] = deque(maxlen=8)
"""The last Tees. Until Python 3.13, `print` holds no reference to the stream that it writes to, and another thread may put
`sys.stdout` back in the middle of a `print`. Without these, that `print` writes to freed memory."""


class Printed:
    """Context manager: stdout and stderr of the calling thread go to `text()`."""

    def __init__(self, limit: int, passing: bool) -> None:
        self.kept, self.passing = HeadTail(limit), passing

    def __enter__(self) -> "Printed":
        self.before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = tees = [Tee(stream, self.kept, self.passing) for stream in self.before]
        _retired.extend(tees)
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self.before

    def text(self) -> str:
        return self.kept.text()
