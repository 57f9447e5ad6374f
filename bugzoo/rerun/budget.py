"""How long something may be run again, in processor time, so that a busy machine shows no fewer rows and steps."""

import time


class OutOfTime(BaseException):
    """The budget is spent. A BaseException, so that no script's `except Exception` holds it."""


class Budget:
    """So many seconds of this thread's processor time, from now on."""

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds

    @property
    def left(self) -> float:
        """Seconds; below 0 where more were spent."""
        return self._until - time.thread_time()

    def check(self) -> None:
        """Raises OutOfTime when nothing is left."""
        if self.left < 0:
            raise OutOfTime
