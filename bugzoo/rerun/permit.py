"""Check whether parts of the script may be re-run. Every function of this package that does so checks here first."""

from bugzoo.errors import NotApplicable
from bugzoo.rerun.model import live
from bugzoo.running.result import Run
from bugzoo.watching.live import Live, Past


def ask(run: Run) -> None:
    """Raise NotApplicable, with the reason, if nothing may be re-run."""
    if run.trace.live is not None and run.trace.live.no_rerun:
        raise NotApplicable(run.trace.live.no_rerun)


def permitted(run: Run) -> Live:
    """Return the run's live objects. Raises NotApplicable without them, or if nothing may be re-run."""
    ask(run)
    return live(run)


def past_of(run: Run) -> Past:
    """Return the kept state of the run's steps. Raises NotApplicable as `permitted`, and while the watch is active."""
    past = permitted(run).past
    if past is None:
        raise NotApplicable("needs the live loop; this trace has numbers only")
    return past
