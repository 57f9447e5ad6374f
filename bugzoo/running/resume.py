"""Stop a script halfway and resume it from its checkpoint: the two runs of an interrupted training.

A script that can be resumed has `stop_after = 0` at its top level. A positive value ends it after so many of its
`epochs` (or `steps`) with a checkpoint in its working folder. If it finds a checkpoint there, it continues from it.
Its files are returned as bytes and put into the folder of the second run, without being opened.
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
"""The largest size of a checkpoint."""


def halfway(source: str) -> str:
    """Return the source that stops halfway. Raises UserError for a script without such a setting."""
    try:
        places = assigned(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"it is not valid Python: {error}") from None
    place = places.get(SETTING)
    if place is None or place.lineno != place.end_lineno:
        raise UserError(f"the script has no line `{SETTING} = 0` to stop it halfway with a checkpoint")
    length = next((_whole(places[name]) for name in LENGTHS if name in places), 0)
    if length < 2:
        raise UserError(f"the script sets none of {', '.join(LENGTHS)}, so half of its length is unknown")
    lines = source_lines(source, keepends=True)
    written(lines, place, repr(length // 2))
    return "".join(lines)


def _whole(node: ast.expr) -> int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else 0


def stopped_and_resumed(job: Job) -> tuple[Run, ...]:
    """Return the run that stops halfway and the resumed run. Only the first one if that did not finish.

    Raises UserError for a script that cannot be stopped halfway.
    """
    plain = replace(job, after=None, after_args={}, export=(), predict=(), bring_mib=MIB)
    stopped = run_worker(replace(plain, source=halfway(job.source)))
    if stopped.outcome != "finished" or stopped.trouble:
        return (stopped,)
    return stopped, run_worker(replace(plain, files=stopped.files))
