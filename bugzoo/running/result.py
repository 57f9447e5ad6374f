"""`Run`: what came of executing one training script under watch."""

from dataclasses import dataclass, field
from typing import Any

from bugzoo.running.reading import Reading
from bugzoo.running.writes import Writes
from bugzoo.watching.trace import Trace


@dataclass(repr=False)
class Run:
    """A trace, what the script printed, and, when it ran in this process, its live objects.

    `readings` holds what instruments measured inside the worker, by their names.
    """

    trace: Trace
    source: str = ""
    file: str = ""
    stdout: str = ""
    namespace: dict[str, Any] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    seconds: float = 0.0
    elapsed: float = 0.0
    """Seconds of the whole process, by the supervisor's clock; `seconds` is what the process itself says."""
    arrays: dict[str, Any] = field(default_factory=dict)
    """What `Job.export` and `Job.predict` asked for: name -> numpy array."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What `Job.bring_mib` asked for: name -> bytes of a file that the script left in its folder."""
    trouble: str = ""
    """Why the run says nothing about the script: the machine failed, or what the script left behind is too much to read.
    It comes from the supervisor, so that no script can put words into it."""
    writes: Writes | None = None
    """What became of what the script wrote, of a job with an overlay."""
    ranks: list["Run"] = field(default_factory=list)
    """One run per rank for multi-process scripts; the outer run is rank 0's."""

    @property
    def outcome(self) -> str:
        return self.trace.outcome

    def __repr__(self) -> str:
        return f"<Run of {self.file}: {self.outcome}, {len(self.trace.step)} steps in {self.seconds:.1f} s>"
