"""Where in the user's script a call comes from."""

import dis
import os
import sys
import sysconfig
from functools import lru_cache
from types import CodeType, FrameType

_LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")})
_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_FROZEN = "<frozen"
"""What the file of a module that is built into Python begins with."""


FILES: dict[str, bool] = {}
"""File -> whether it is the user's."""


def is_users(file: str) -> bool:
    """Return whether a file is neither Python's, nor an installed package's, nor bugzoo's."""
    return not file.startswith((*_LIBRARIES, _OWN, _FROZEN))


def users_frame(depth: int) -> FrameType | None:
    """Return the innermost frame of the user's code, from the caller's `depth`-th frame outward."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        file = frame.f_code.co_filename
        theirs = FILES.get(file)  # at each call that has a contract: a look in a dictionary, no call
        if theirs is None:
            theirs = FILES[file] = is_users(file)
        if theirs:
            break
        frame = frame.f_back
    return frame


def dropped(frame: FrameType) -> bool:
    """Return whether a frame throws away what its present call returns, as in a line that holds only the call."""
    return _dropped(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=1024)
def _dropped(code: CodeType, at: int) -> bool:
    following = (instruction.opname for instruction in dis.get_instructions(code) if instruction.offset > at)
    return next(following, "") == "POP_TOP"
