"""At which steps what is taken. Every step: loss, gradient norms, learning rate, scale, leftover, times, finiteness.

The rest is sampled, by the step's number alone, so that two runs of one script are looked at in the same places.
"""

EVERY_STEP, PERIOD, WINDOW = 40, 100, 30
"""Steps whose graphs are marked: the first ones, then some in a row now and then, so that a sum over an epoch shows."""


def sampled(step: int) -> bool:
    """Module statistics, parameter norms, graph, batches: steps 1, 2, 5, 10, 50, then every 100th."""
    return step % 100 == 0 or step in (1, 2, 5, 10, 50)


def with_update(step: int) -> bool:
    """The size of the update: at sampled steps, and every 50th."""
    return step % 50 == 0


def with_memory(step: int) -> bool:
    """Memory: the first 9 steps, then every 25th."""
    return step % 25 == 1 or step < 10


def marked(step: int) -> bool:
    """Graphs that are followed until they die (see `bugzoo.watching.alive`)."""
    return step <= EVERY_STEP or step % PERIOD < WINDOW
