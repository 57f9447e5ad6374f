"""Save and load a trace: one .npz with its arrays and one JSON text, without pickle, written completely or not at all."""

import io
import json
import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bugzoo.contracts.model import Finding
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.plain import plain
from bugzoo.watching import npz
from bugzoo.watching.records import Event, Forward, Graph, Parameter, Validation
from bugzoo.watching.trace import Trace

FORMAT = 2
_SKIPPED = ("live",)


def save(trace: Trace, path: str | Path) -> Path:
    """Write `trace` to `path` (".npz" is added if missing) and return the path.

    Raises UserError if the place cannot be written or the disk is full. An older file is then unchanged.
    """
    path = Path(path)
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    arrays: dict[str, Any] = {}
    rest: dict[str, Any] = {"format": FORMAT}
    for part in fields(trace):
        value = getattr(trace, part.name)
        if part.name in _SKIPPED:
            continue
        if isinstance(value, np.ndarray):
            arrays[part.name] = value
        elif part.name in ("parameters", "events", "forwards", "validation", "findings"):
            rest[part.name] = [plain(asdict(entry), finite=False) for entry in value]
        elif part.name == "graph":
            rest[part.name] = plain(asdict(value), finite=False)
        else:
            rest[part.name] = plain(value, finite=False)
    arrays["json"] = np.frombuffer(json.dumps(rest).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    write_atomic(path, file.getvalue())
    return path


def load(path: str | Path, most: int | None = None) -> Trace:
    """Read a trace that `save` wrote. Raises UserError for a missing file or one that is not a trace, and TooMuch for a
    file of more than `most` bytes, on disk or unpacked."""
    try:
        arrays = npz.read(path, most)
        rest = npz.from_json(arrays.pop("json").tobytes(), Path(path).name, most)
    except FileNotFoundError as error:
        raise UserError(f"There is no trace at {path}. trace.save(path) writes one.") from error
    except (OSError, ValueError, KeyError, BadZipFile, EOFError, RuntimeError, zlib.error) as error:
        raise UserError(f"{path} is not a trace that bugzoo saved ({error}). trace.save(path) writes one.") from error
    if rest.pop("format", None) != FORMAT:
        raise UserError(f"{path} was saved by another version of bugzoo. Run the training again under bugzoo.watch().")
    names = {part.name for part in fields(Trace)} - set(_SKIPPED)
    if strange := sorted({*arrays, *rest} - names):
        raise UserError(f"{path} is not a trace that bugzoo saved: a trace has no part {strange[0]!r}.")
    trace = Trace()
    for name, value in arrays.items():
        setattr(trace, name, value)
    rest["parameters"] = [Parameter(**{**entry, "shape": tuple(entry["shape"])}) for entry in rest["parameters"]]
    rest["events"] = [Event(**entry) for entry in rest["events"]]
    rest["forwards"] = [Forward(**entry) for entry in rest["forwards"]]
    rest["validation"] = [Validation(**entry) for entry in rest.get("validation", ())]  # older files have none
    rest["findings"] = [Finding(**entry) for entry in rest.get("findings", ())]
    rest["graph"] = Graph(**{**rest["graph"], "ops": tuple(rest["graph"]["ops"])})
    for name, value in rest.items():
        setattr(trace, name, value)
    return trace
