"""`Job`: a script to run in a worker, with its limits. It is sent between processes as JSON and one .npz."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.errors import UserError

WORK = "work"
"""The script's own working folder inside the job's folder, if it has one."""
STEPS = "steps"
"""The file that says which steps are kept, until the supervisor has opened and removed it."""
_APART = ("limits", "predict", "files", "keep_steps")
THREADS = "BUGZOO_THREADS"
"""Environment variable: the threads of each job that names none. A lesson is proved with one and with two."""
NAME = re.compile(r"(?!\.\.?$)[\w.-]{1,100}")
"""Allowed name of a file that is passed from one run to another."""
MOST_FILES = 20_000
"""Files, folders and links in each of an isolated script's file systems: the kernel needs 1 KiB of memory for an empty one."""


@dataclass(frozen=True)
class Limits:
    """What a worker may use before it is stopped."""

    seconds: float = 60
    """Seconds of the script's own: processor time on each core that it is entitled to, and what it sleeps. Importing torch and
    waiting for busy processors do not count (up to six times the limit). After it the run is `timed_out`, or `hung` if steps
    had stopped."""
    memory_mib: int | None = None
    """MiB on top of the warm process, which has torch imported. Above it the run is `out_of_memory`."""
    output_mib: float = 1
    """MiB of stdout and stderr to keep, half from the start and half from the end. The rest is dropped."""
    processes: int = 64
    """Processes alive at once, including the script's own. An isolated script may have eight times as many threads."""
    result_mib: int = 512
    """MiB of results, on disk and unpacked. It is also the size of an isolated script's whole folder."""
    quiet_seconds: float | None = None
    """End the run as `hung` if steps had begun and none came for so many seconds. None waits for `seconds`."""

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_mib", "output_mib", "processes", "result_mib", "quiet_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"Limits: {name}={value!r} is not allowed; use a number above 0.")

    @property
    def threads(self) -> int:
        """The most threads of all of an isolated script's processes together."""
        return 8 * self.processes


@dataclass(frozen=True)
class Job:
    """One run of `source` in its own process."""

    source: str
    file: str = "train.py"
    """The name in tracebacks. The file need not exist."""
    limits: Limits = field(default_factory=Limits)
    ranks: int = 1
    """Number of processes. Above 1, torch's elastic launcher starts them."""
    after: str | None = None
    """`module:function`, called in the worker with the Run. It returns {name: Reading} for `Run.readings`."""
    after_args: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the `after` function, JSON-able."""
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    """Working directory. Default: the caller's, or an empty temporary one when isolated."""
    cuda_fraction: float | None = None
    """Share of the device's memory that the worker may allocate."""
    watch: bool = True
    watch_settings: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of `watch()`, such as `{"snapshots": False}`."""
    threads: int = field(default_factory=lambda: int(os.environ.get(THREADS) or 1))
    """`torch.set_num_threads`. Broken and healthy runs need the same number, because sums depend on it."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables on top of the worker's."""
    overlay: bool = False
    """For a user's own script: its files go to a temporary overlay if the kernel allows it, as `Run.writes` tells. Its
    exit handlers run last, after `after`."""
    keep: str = ""
    """With an overlay: a folder to copy the script's files to, as a plain run would leave them."""
    rerun: bool = True
    """With an overlay: whether `after` may re-run parts of the script."""
    closed: bool = False
    """With an overlay: this is a repeated run. The script can open no connection, and start only loader workers."""
    isolated: bool = False
    """For other people's code: no network, read-only files except a temporary folder, an empty environment."""
    withheld: Mapping[str, str] | None = None
    """With `isolated`: installed path -> path of what the script sees there, on the machine that runs the job; "" for an empty
    folder. A grader fills it (`bugzoo.grading.isolation`). An isolated job without it is refused; {} is for our own code."""
    export: tuple[str, ...] = ()
    """Names of the script whose tensors are returned in `Run.arrays`: a module's state_dict, a tensor, an array."""
    predict: tuple[np.ndarray, ...] = ()
    """Inputs for the script's `model`, called in eval mode after the run. The result is `Run.arrays["predictions"]`.

    The targets stay with the caller, so that a submission that controls its process still cannot compute its own score.
    """

    keep_steps: bytes = field(default=b"", repr=False)
    """For each step 1 or 0: whether it is kept whole for `Run.arrays` (`bugzoo.watching.steps`). The script's process does
    not have it: it asks after each step (`running.draw`)."""
    bring_mib: float = 0
    """Above 0, the script works in its own folder, and up to so many MiB of plain files are returned in `Run.files`.
    Files in subfolders are not."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name -> bytes of the files in that folder at the start."""

    quiet: bool = field(default=False, repr=False)
    """If `after` or `export` fails, it is only recorded in `error`. The caller judges it, for example in grading."""

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise UserError(f"Job: ranks={self.ranks!r} is not allowed; use a whole number from 1.")
        if strange := [name for name in self.files if not NAME.fullmatch(name)]:
            raise UserError(f"Job: the file name {strange[0]!r} is not allowed; use letters, digits, '_', '-' and '.'.")
        if self.files and not self.bring_mib:
            raise UserError("Job: files are given, but the script has no folder of its own; set bring_mib above 0.")
        if self.isolated and self.withheld is None:
            raise UserError("Job: isolated=True needs withheld, what the sandbox withholds; for your own code use {}.")
        if self.after is not None and ":" not in self.after:
            raise UserError(f"Job: after={self.after!r} is not allowed; write it as 'module:function'.")

    def save(self, folder: Path) -> None:
        """Write `job.json`, `inputs.npz` if `predict` is given, and the script's own working folder if it has one."""
        values = {name: value for name, value in self.__dict__.items() if name not in _APART}
        values["limits"] = asdict(self.limits)
        (folder / "job.json").write_text(json.dumps(values), encoding="utf-8")
        if self.predict:
            inputs: dict[str, Any] = {f"input{i}": value for i, value in enumerate(self.predict)}
            np.savez(folder / "inputs.npz", **inputs)
        if self.bring_mib:
            (folder / WORK).mkdir()
            for name, content in self.files.items():
                (folder / WORK / name).write_bytes(content)

    @classmethod
    def load(cls, folder: Path) -> "Job":
        values = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        values["limits"] = Limits(**values["limits"])
        for name in ("argv", "export"):
            values[name] = tuple(values[name])
        inputs = folder / "inputs.npz"
        if inputs.exists():
            with np.load(inputs, allow_pickle=False) as stored:
                values["predict"] = tuple(stored[f"input{i}"] for i in range(len(stored.files)))
        return cls(**values)
