"""A time limit for re-runs, in processor time, so that a busy machine gives as many rows and steps."""

import time


class OutOfTime(BaseException):
    """The budget is used up. A BaseException, so that a script's `except Exception` does not catch it."""


class Budget:
    """A number of seconds of this thread's processor time, from now on."""

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds

    @property
    def left(self) -> float:
        """Return the seconds left, negative if more were used."""
        return self._until - time.thread_time()

    def check(self) -> None:
        """Raise OutOfTime if no time is left."""
        if self.left < 0:
            raise OutOfTime
