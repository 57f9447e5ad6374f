"""Keep the batch of one optimizer step. `batch.prepare` calls this in a copy of the script, before its first statement."""

from bugzoo.watching import recorder
from bugzoo.watching.live import Batch, Live

ASKED = "asked"
"""Attribute of `Live` that holds the batch."""


def keep(step: int) -> None:
    """Make the watch of this process sample `step` too.

    Its batch is kept apart from the others: so instruments measure the batches that they always measure, and later
    batches cannot push it out. The process ends after the run, so nothing is restored.
    """
    usual, add = recorder.sampled, Live.add

    def added(live: Live, batch: Batch) -> None:
        if batch.step == step:
            setattr(live, ASKED, batch)
        if usual(batch.step):
            add(live, batch)

    recorder.sampled = lambda number: number == step or usual(number)  # pyright: ignore[reportPrivateImportUsage]
    Live.add = added  # type: ignore[method-assign]
