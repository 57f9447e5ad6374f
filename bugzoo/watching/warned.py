"""What libraries warned of during a watched run, and which line of the script was running."""

import re
import warnings
from collections.abc import Callable
from typing import Any

from bugzoo.contracts.place import is_users, users_frame
from bugzoo.watching.records import LibraryWarning

MOST = 20
"""Different warnings that are kept."""
_INTERNAL = re.compile(r"\s*\((?:Triggered|function|This warning) .*?\)\s*$", re.S)


class Warned:
    """Listens at `warnings.showwarning`, so that filters of the script hold. `found` grows meanwhile."""

    def __init__(self, foreign: Callable[[], bool] = lambda: False) -> None:
        self.found: list[LibraryWarning] = []
        self.foreign = foreign

    def listening(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def showwarning(
            message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
        ) -> None:
            if not self.foreign():
                self._note(str(message), category.__name__, filename, lineno)
            original(message, category, filename, lineno, file, line)

        return showwarning

    def install(self, patch: Callable[[Any, str, Any], None]) -> None:
        patch(warnings, "showwarning", self.listening(warnings.showwarning))

    def _note(self, message: str, kind: str, file: str, line: int) -> None:
        if not is_users(file):  # a library warned deeper down: the line of the script that called it
            frame = users_frame(2)
            file, line = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
        warning: LibraryWarning = {
            "file": file,
            "line": line,
            "kind": kind,
            "message": " ".join(_INTERNAL.sub("", message).split())[:300],
        }
        if warning not in self.found and len(self.found) < MOST:
            self.found.append(warning)
