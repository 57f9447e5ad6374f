"""Which steps are measured. Every step: loss, gradient norms, learning rate, scale, leftover, times, finiteness.

The rest is sampled, only by the step's number, so that two runs of one script are measured at the same steps.
"""

EVERY_STEP, PERIOD, WINDOW = 40, 100, 30
"""Steps whose graphs are marked: the first 40, then 30 in a row of every 100, so that a sum over an epoch shows."""


def sampled(step: int) -> bool:
    """Return whether to take module statistics, parameter norms, graph, batches: steps 1, 2, 5, 10, 50, every 100th."""
    return step % 100 == 0 or step in (1, 2, 5, 10, 50)


def with_update(step: int) -> bool:
    """Return whether to measure the size of the update: at sampled steps, and every 50th."""
    return step % 50 == 0


def with_memory(step: int) -> bool:
    """Return whether to measure memory: the first 9 steps, then every 25th."""
    return step % 25 == 1 or step < 10


def marked(step: int) -> bool:
    """Return whether to follow this step's graph until it is freed (see `bugzoo.watching.live_graphs`)."""
    return step <= EVERY_STEP or step % PERIOD < WINDOW
