"""Stop a script half way and start it again in the folder that it left: the two runs of a training that was interrupted.

A script that can be resumed has `stop_after = 0` at its top level, which ends it after so many of its `epochs` (or `steps`) with
a checkpoint in its working folder, and goes on from a checkpoint that it finds there. Its files come back as bytes and are
put into the folder of the second run; nobody opens them in between.
"""

import ast
from dataclasses import replace

from bugzoo.errors import UserError
from bugzoo.running.job import Job
from bugzoo.running.result import Run
from bugzoo.running.worker import run_worker
from bugzoo.syntax import assigned, source_lines, written

SETTING = "stop_after"
LENGTHS = ("epochs", "steps")
MIB = 32
"""What a checkpoint may take."""


def halfway(source: str) -> str:
    """The text that stops half way. Raises UserError for a script that cannot be told to."""
    try:
        places = assigned(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"it is not valid Python: {error}") from None
    place = places.get(SETTING)
    if place is None or place.lineno != place.end_lineno:
        raise UserError(f"the script has no line `{SETTING} = 0` that could end it with a checkpoint half way")
    length = next((_whole(places[name]) for name in LENGTHS if name in places), 0)
    if length < 2:
        raise UserError(
            f"the script says in none of {', '.join(LENGTHS)} how long it trains, so that half of it is not known"
        )
    lines = source_lines(source, keepends=True)
    written(lines, place, repr(length // 2))
    return "".join(lines)


def _whole(node: ast.expr) -> int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else 0


def stopped_and_resumed(job: Job) -> tuple[Run, ...]:
    """The run that is stopped half way and the one that goes on from its files; the first alone where it did not finish.

    Raises UserError for a script that cannot be told to stop.
    """
    plain = replace(job, after=None, after_args={}, export=(), predict=(), bring_mib=MIB)
    stopped = run_worker(replace(plain, source=halfway(job.source)))
    if stopped.outcome != "finished" or stopped.trouble:
        return (stopped,)
    return stopped, run_worker(replace(plain, files=stopped.files))
