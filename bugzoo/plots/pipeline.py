"""Who works when: batches are fetched by nobody but the trainer, or by workers beside it, one row of bars for each.

The bars are worked out, not measured: fetching and computing take what they are said to take, and each worker goes on with the
next batch at once. Hatched bars fetch, plain bars compute; what lies between two plain ones is waiting.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, prepare


def schedule(fetch: float, compute: float, workers: int, steps: int) -> tuple[list[list[float]], list[float]]:
    """(for each fetcher the times at which it begins a batch, the times at which the trainer begins to compute one)."""
    if not workers:
        begins = [step * (fetch + compute) for step in range(steps)]
        return [begins], [begin + fetch for begin in begins]
    fetches, computes, free = [[] for _ in range(workers)], [], 0.0
    for step in range(steps):
        own = fetches[step % workers]
        own.append(own[-1] + fetch if own else 0.0)
        begin = max(own[-1] + fetch, free)
        computes.append(begin)
        free = begin + compute
    return fetches, computes


def picture(fetch: float, compute: float, workers: Sequence[int] = (0, 1, 2), steps: int = 6) -> Figure:
    """One panel for each number of workers, over the same stretch of time (in units of `fetch` and `compute`)."""
    figure = Figure(figsize=(7.5, 0.6 + 0.42 * sum(max(1, one) + 1 for one in workers)), layout="constrained")
    figure.patch.set_alpha(0.0)
    rows = figure.subplots(
        len(workers), 1, sharex=True, squeeze=False, height_ratios=[max(1, one) + 1 for one in workers]
    )
    for ax, number in zip(rows[:, 0], workers, strict=True):
        fetches, computes = schedule(fetch, compute, number, steps)
        last = number == workers[-1]
        prepare(
            ax,
            f"{number or 'no'} worker{'s' * (number != 1)}: done after {computes[-1] + compute:g}",
            "time" if last else "",
        )
        for place, begins in enumerate(fetches):
            for begin in begins:
                ax.barh(place, fetch, left=begin, color=ORANGE, hatch="//", edgecolor="white", height=0.7)
        for begin in computes:
            ax.barh(len(fetches), compute, left=begin, color=BLUE, edgecolor="white", height=0.7)
        names = ["fetch"] if number < 2 else [f"fetch {place}" for place in range(1, number + 1)]
        ax.set_yticks(range(len(fetches) + 1), [*names, "compute"], color=GREY)
        ax.invert_yaxis()
    return figure
