"""Read a script's result files safely: a hostile script may have written anything, so size is capped and data is plain.

The supervisor calls `look` after all of the script's processes have ended. A child process with a small memory limit
reads everything once. Valid files are copied to where the caller reads them under the same caps. Others get a reason.
"""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import sys
from pathlib import Path

from bugzoo.machine import portable
from bugzoo.running import draw, processes
from bugzoo.running.job import NAME, WORK, Job
from bugzoo.running.reading import from_json
from bugzoo.running.result import Run
from bugzoo.watching import npz, storage

SECONDS = 60.0
MEMORY_MIB = 256
"""Memory for reading, on top of twice the result limit."""
BACK, MOST_FILES = "back", 100
"""The folder for files from the sandbox, and the largest number of them."""
FILES = ("trace-{}.npz", "arrays-{}.npz", "result-{}.json", "exit-{}")


def read(job: Job, folder: Path, rank: int, kept: Path | None = None) -> Run:
    """Read what a rank saved, and its steps that the supervisor kept (in `kept`; default: the same folder).

    Raises npz.TooMuch above the limits, and any exception for broken or missing files.
    """
    most = int(job.limits.result_mib * 2**20)
    path = folder / f"result-{rank}.json"
    with npz.opened(path, most) as file:
        result = npz.from_json(file.read(), path.name, most)
    run = Run(storage.load(folder / f"trace-{rank}.npz", most), job.source, job.file)
    run.seconds, run.readings = float(result["seconds"]), from_json(result["numbers"])
    arrays = folder / f"arrays-{rank}.npz"
    if arrays.exists():
        run.arrays = npz.read(arrays, most)
    for step, path in draw.files(kept or folder, rank).items():
        parts = npz.read(path, most)
        most -= sum(value.nbytes for value in parts.values())
        run.arrays |= {f"steps.{step}.{part}": value for part, value in parts.items()}
    return run


def look(job: Job, place: Path, folder: Path) -> tuple[dict[str, str], str]:
    """Copy readable results to `folder`. Returns ({rank: why its results cannot be read}, the machine's failure or "")."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(ours)
            now = processes.field(os.getpid(), "status", "VmData")
            most = now + (2 * int(job.limits.result_mib) + MEMORY_MIB) * 2**20
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            os.write(theirs, json.dumps(_look(job, place, folder)).encode()[: 2**16])
            os._exit(0)
        os._exit(1)
    os.close(theirs)
    answer = b""
    with contextlib.suppress(OSError):
        while select.select([ours], [], [], SECONDS)[0] and (piece := os.read(ours, 2**16)):
            answer += piece
    os.close(ours)
    processes.send(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        reasons, trouble = json.loads(answer)
        return reasons, trouble
    except ValueError:
        why = "What its run left behind takes too much memory or time to read."
        return {str(rank): why for rank in range(job.ranks)}, ""


def _look(job: Job, place: Path, folder: Path) -> tuple[dict[str, str], str]:
    reasons: dict[str, str] = {}
    for rank in range(job.ranks):
        try:
            read(job, place, rank, folder)
        except npz.TooMuch as why:
            reasons[str(rank)] = f"What its run left behind cannot be read: {why}"[:300]
            continue
        except MemoryError:
            reasons[str(rank)] = "What its run left behind takes too much memory to read."
            continue
        except Exception as error:  # without a file the run's ending says why
            if os.path.lexists(place / FILES[2].format(rank)):  # written last and at once, so this is no half of one
                reasons[str(rank)] = f"What its run left behind cannot be read ({type(error).__name__})."
                continue
        if place == folder:
            continue
        try:
            for name in FILES:
                _copy(place / name.format(rank), folder / name.format(rank), int(job.limits.result_mib * 2**20))
        except OSError as error:
            return reasons, f"The temporary folder {folder.parent} takes nothing more: {error.strerror}."
    if job.bring_mib and place != folder:
        try:
            files = left(place / WORK, int(job.bring_mib * 2**20))
            (folder / BACK).mkdir()
            for name, content in files.items():
                (folder / BACK / name).write_bytes(content)
        except npz.TooMuch as why:
            reasons["0"] = f"What its run left behind cannot be read: {why}"[:300]
        except OSError as error:
            return reasons, f"The temporary folder {folder.parent} takes nothing more: {error.strerror}."
    return reasons, ""


def left(place: Path, most: int) -> dict[str, bytes]:
    """Return name -> bytes of the plain files in a folder that the script could write to. Empty without a folder.

    Raises npz.TooMuch for more than `most` bytes, or more than MOST_FILES files.
    """
    contents: dict[str, bytes] = {}
    try:  # the script may have replaced the folder by a link
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return contents
    base = place if portable() else Path(f"/proc/self/fd/{handle}")
    try:
        for name in sorted(filter(NAME.fullmatch, os.listdir(handle))):
            with contextlib.suppress(OSError), npz.opened(base / name, most) as file:
                contents[name] = file.read(most + 1)
                most -= len(contents[name])
            if most < 0 or len(contents) > MOST_FILES:
                raise npz.TooMuch("the files in its folder are more than what may be handed on")
    finally:
        os.close(handle)
    return contents


def handed_on(job: Job, folder: Path) -> dict[str, bytes]:
    """Return the files for `Run.files`, after `look`. Raises npz.TooMuch."""
    return left(folder / (BACK if job.isolated else WORK), int(job.bring_mib * 2**20)) if job.bring_mib else {}


def _copy(source: Path, target: Path, most: int) -> None:
    """Copy a plain file; anything else is skipped. Raises OSError if the target cannot be written."""
    try:
        file = npz.opened(source, most)
    except (OSError, npz.TooMuch):
        return
    with file, open(target, "wb") as copy:
        shutil.copyfileobj(file, copy, 2**20)
        when = os.fstat(file.fileno()).st_mtime_ns
    os.utime(target, ns=(when, when))


def space(place: Path) -> int:
    """Return the free bytes on the disk of `place`, 0 if it takes no further file, a very large number if unknown."""
    with contextlib.suppress(OSError):
        status = os.statvfs(place)
        return 0 if status.f_files and not status.f_favail else status.f_bavail * status.f_frsize
    return sys.maxsize
