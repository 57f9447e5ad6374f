"""May a part of the script be run again? Every function of this room that repeats one asks here first."""

from bugzoo.errors import NotApplicable
from bugzoo.rerun.model import live
from bugzoo.running.result import Run
from bugzoo.watching.live import Live, Past


def ask(run: Run) -> None:
    """Raises NotApplicable, with the reason, where nothing may be run again."""
    if run.trace.live is not None and run.trace.live.no_rerun:
        raise NotApplicable(run.trace.live.no_rerun)


def permitted(run: Run) -> Live:
    """The run's live objects. Raises NotApplicable where there are none, or where nothing may be run again."""
    ask(run)
    return live(run)


def past_of(run: Run) -> Past:
    """What is kept of the run's steps. Raises NotApplicable as `permitted`, and while the watch goes on."""
    past = permitted(run).past
    if past is None:
        raise NotApplicable("needs the live loop; this trace has numbers only")
    return past
