"""`Run`: the result of running one training script under watch."""

from dataclasses import dataclass, field
from typing import Any

from bugzoo.running.reading import Reading
from bugzoo.running.writes import Writes
from bugzoo.watching.trace import Trace


@dataclass(repr=False)
class Run:
    """A trace, the script's output and, if it ran in this process, its live objects.

    `readings` holds the measurements of instruments inside the worker, by instrument name.
    """

    trace: Trace
    source: str = ""
    file: str = ""
    stdout: str = ""
    namespace: dict[str, Any] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    seconds: float = 0.0
    elapsed: float = 0.0
    """Seconds of the whole process, by the supervisor's clock. `seconds` is the process's own measurement."""
    arrays: dict[str, Any] = field(default_factory=dict)
    """Results of `Job.export` and `Job.predict`: name -> numpy array."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Results of `Job.bring_mib`: name -> bytes of a file that the script left in its folder."""
    trouble: str = ""
    """Why the run does not count as the script's result: the machine failed, or its result files are too large to read.
    It comes from the supervisor, so the script cannot change it."""
    spoilt: bool = False
    """Whether `trouble` is about what the script left behind, and not about the machine."""
    writes: Writes | None = None
    """For a job with an overlay: what happened to the files that the script wrote."""
    ranks: list["Run"] = field(default_factory=list)
    """One run per rank for multi-process scripts. The outer run is rank 0's."""

    @property
    def outcome(self) -> str:
        return self.trace.outcome

    def __repr__(self) -> str:
        return f"<Run of {self.file}: {self.outcome}, {len(self.trace.step)} steps in {self.seconds:.1f} s>"
