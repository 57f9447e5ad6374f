"""Which steps of a run are kept: the draw stays with the supervisor, and the script's process asks after each step.

The process sends ASK and gets one byte. After YES it sends LEAVE, the length of the kept step (8 bytes, 0 for one that it
could not keep), and then the step, an .npz, which goes to a file that the script cannot reach. So its process holds neither
what comes next nor what was kept. The supervisor counts: there is one question for each step that was reported before it.
"""

import contextlib
import io
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

ASK, LEAVE, YES, NO = b"?", b"=", b"\x01", b"\x00"
_LENGTH = struct.Struct("<Q")
AHEAD = "It asked whether a step is compared before it had made that step, or a second time"
STRANGE = "It sent the grader something that is no step"
TOO_MUCH = "The steps that are compared need more than {} MiB"


PIPES = "questions-{}", "answers-{}"
"""Names of a rank's pipes in portable mode, where no socket is inherited."""


class Asking:
    """In the script's process: `questions` and `answers` are file descriptors of a rank."""

    def __init__(self, questions: int, answers: int) -> None:
        self._questions, self._answers, self._asked = questions, answers, False

    def ask(self) -> None:
        """Ask whether the step that was just made is kept. The script goes on, and `wanted` reads the answer later."""
        self._asked = self._sent(ASK)

    def wanted(self) -> bool:
        """Return the answer to the last question; `leave` must follow a yes."""
        return self._asked and os.read(self._answers, 1) == YES

    def leave(self, step: dict[str, Any] | None) -> None:
        """Send a kept step, name -> array; None for one that could not be kept."""
        packed = io.BytesIO()
        if step is not None:
            np.savez(packed, **step)
        self._sent(LEAVE + _LENGTH.pack(packed.tell()) + packed.getvalue())

    def _sent(self, data: bytes) -> bool:
        left = memoryview(data)
        with contextlib.suppress(OSError):  # the supervisor has ended the run
            while left:
                left = left[os.write(self._questions, left) :]
        return not left


class Draw:
    """With the supervisor: answers one rank's questions from `wanted`, and writes its kept steps to `folder`.

    `wanted`: for each step 1 or 0; later steps are not kept. `most_mib`: of all steps together.
    """

    def __init__(self, wanted: bytes, folder: Path, rank: int, most_mib: int) -> None:
        self.wanted, self.folder, self.rank, self.most_mib = wanted, folder, rank, most_mib
        self.broken = ""
        """Why the run ends here: it went on otherwise than with one question for each step."""
        self._asked, self._room = 0, most_mib * 2**20
        self._head: bytes | None = None
        """LEAVE and the length of a step to come, as far as they were received; None while none is to come."""
        self._left = 0

    def take(self, data: bytes, made: int) -> bytes:
        """Take in what the process sent after it had reported `made` steps; return the bytes to answer."""
        answer = b""
        while data and not self.broken:
            if self._left:
                data = self._store(data)
            elif data[:1] != (ASK if self._head is None else LEAVE) and not self._head:
                self.broken = AHEAD if data[:1] == ASK else STRANGE
            elif self._head is not None:
                data = self._begin(data)
            elif self._asked >= made or answer:
                self.broken = AHEAD
            else:
                answer, data = self._answer(), data[1:]
        return b"" if self.broken else answer

    def _answer(self) -> bytes:
        self._asked += 1
        if self.wanted[self._asked - 1 : self._asked] != YES:
            return NO
        self._head = b""
        return YES

    def _begin(self, data: bytes) -> bytes:
        head, whole = self._head or b"", len(LEAVE) + _LENGTH.size
        self._head, data = head + data[: whole - len(head)], data[whole - len(head) :]
        if len(self._head) == whole:
            (self._left,), self._head = _LENGTH.unpack(self._head[len(LEAVE) :]), None
            self._room -= self._left
            if self._room < 0:
                self.broken = TOO_MUCH.format(self.most_mib)
        return data

    def _store(self, data: bytes) -> bytes:
        piece, data = data[: self._left], data[self._left :]
        with open(file(self.folder, self.rank, self._asked), "ab") as out:
            out.write(piece)
        self._left -= len(piece)
        return data


def file(folder: Path, rank: int, step: int) -> Path:
    """Return where a kept step of a rank lies, after the run."""
    return folder / f"step-{rank}-{step}.npz"


def files(folder: Path, rank: int) -> dict[int, Path]:
    """Return step -> file of the steps that were kept of a rank."""
    paths = {int(path.stem.rpartition("-")[2]): path for path in folder.glob(f"step-{rank}-*.npz")}
    return dict(sorted(paths.items()))
