"""`Job`: a script to execute in a worker, with its limits. It crosses process borders as JSON and one .npz."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.errors import UserError

WORK = "work"
"""The script's working folder, within the job's, where it has one of its own."""
NAME = re.compile(r"(?!\.\.?$)[\w.-]{1,100}")
"""Of a file that is handed from one run to another."""


@dataclass(frozen=True)
class Limits:
    """What a worker may use before it is ended."""

    seconds: float = 60
    """Wall clock, importing torch not counted, nor what the script waits while other programs have the processors (up to
    ten times the limit); beyond it the run is `timed_out`, or `hung` when steps had ceased."""
    memory_mib: int | None = None
    """MiB on top of what the warm process with torch imported holds; beyond it the run is `out_of_memory`."""
    output_mib: float = 1
    """MiB of stdout and stderr kept, half from the start and half from the end; the rest is read and dropped."""
    processes: int = 64
    """Processes alive at once, the script's own included."""
    result_mib: int = 512
    """MiB that a run may hand over, on the disk and unpacked; an isolated script's whole folder may hold that much."""
    quiet_seconds: float | None = None
    """End the run as `hung` when steps had begun and none came for so long; None waits for `seconds`."""

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_mib", "output_mib", "processes", "result_mib", "quiet_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"Limits: {name}={value!r} is not allowed; it is a number above 0.")


@dataclass(frozen=True)
class Job:
    """One run of `source` in a process of its own."""

    source: str
    file: str = "train.py"
    """The name in tracebacks; nothing needs to exist under it."""
    limits: Limits = field(default_factory=Limits)
    ranks: int = 1
    """Processes started by torch's elastic launcher when above 1."""
    after: str | None = None
    """`module:function`, called in the worker with the Run; returns {name: Reading} for `Run.readings`."""
    after_args: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the `after` function, JSON-able."""
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    """Working directory: the caller's by default, an empty temporary one when isolated."""
    cuda_fraction: float | None = None
    """Share of the device's memory that the worker may allocate."""
    watch: bool = True
    watch_settings: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of `watch()`, such as `{"snapshots": False}`."""
    threads: int = 1
    """`torch.set_num_threads`; twins need the same number, as sums depend on it."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables on top of the worker's."""
    overlay: bool = False
    """For a script of one's own: what it writes lands in scratch, where the kernel allows it; `Run.writes` says so. Its exit
    handlers run last, when `after` has asked what it wanted."""
    keep: str = ""
    """With an overlay: a folder to which its files are copied, as a bare run leaves them."""
    rerun: bool = True
    """With an overlay: may `after` run parts of the script again?"""
    closed: bool = False
    """With an overlay: a further run of a script. It connects to nothing and starts no program but a loader's workers."""
    isolated: bool = False
    """For code of other people: no network, files read-only but a temporary folder, an empty environment."""
    export: tuple[str, ...] = ()
    """Names of the script whose tensors come back in `Run.arrays`: a module's state_dict, a tensor, an array."""
    predict: tuple[np.ndarray, ...] = ()
    """Inputs for the script's `model`, called in eval mode after the run; the answer is `Run.arrays["predictions"]`.

    The targets stay with the caller, so that a submission that controls its process still cannot compute its own score.
    """

    bring_mib: float = 0
    """Above 0 the script works in a folder of its own, and so many MiB of plain files that it leaves there come back in
    `Run.files`; what lies in folders below does not."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name -> bytes of the files that lie in that folder when it begins."""

    quiet: bool = field(default=False, repr=False)
    """An `after` or `export` that fails is only noted in `error`: the caller judges it, as of a submission."""

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise UserError(f"Job: ranks={self.ranks!r} is not allowed; it is a whole number from 1.")
        if strange := [name for name in self.files if not NAME.fullmatch(name)]:
            raise UserError(
                f"Job: files may have no such name as {strange[0]!r}; letters, digits, '_', '-' and '.' are allowed."
            )
        if self.files and not self.bring_mib:
            raise UserError("Job: files need a folder of the script's own; give bring_mib a number above 0.")
        if self.after is not None and ":" not in self.after:
            raise UserError(f"Job: after={self.after!r} is not allowed; write it as 'module:function'.")

    def save(self, folder: Path) -> None:
        """Write `job.json`, `inputs.npz` where `predict` is given, and the working folder where it has one of its own."""
        values = {name: value for name, value in self.__dict__.items() if name not in ("limits", "predict", "files")}
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
