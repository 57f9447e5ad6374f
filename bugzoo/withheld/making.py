"""Make a file or a folder once, and keep it in the cache folder."""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from bugzoo import kept
from bugzoo.fingerprint import code_of

_one_at_a_time = threading.Lock()


def made(real: Path, write: Callable[[Path], None], about: str = "") -> str:
    """Return the path of what `write` makes in place of `real`, from the cache if it is there.

    The key is the content of `real` (a file, or a folder by its topics.py), our code and `about`. A folder of this process
    replaces a cache that takes nothing. Raises OSError if that fails too.
    """
    content = real if real.is_file() else real / "topics.py"
    key = (real.name, _digest(content, content.stat().st_mtime_ns), code_of("bugzoo.withheld"), sys.version, about)
    name = kept.key("withheld", *key)
    try:
        return _in(Path(os.path.abspath(kept.folder())), name, real.name, write)
    except OSError:
        return _in(_temporary(), name, real.name, write)


def _in(folder: Path, key: str, name: str, write: Callable[[Path], None]) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time:
        if not (folder / key).exists():
            _publish(folder / key, name, write)
    return str(folder / key / name)


def _publish(place: Path, name: str, write: Callable[[Path], None]) -> None:
    """Make a folder completely or not at all; another process may make the same at the same time."""
    scratch = Path(tempfile.mkdtemp(prefix="new-", dir=place.parent))
    try:
        write(scratch / name)
        for path in scratch.rglob("*"):  # the script's user must be able to read them
            path.chmod(0o755 if path.is_dir() else 0o644)
        with suppress(OSError):  # it is there by now
            os.rename(scratch, place)
        if not place.exists():
            raise OSError(f"{place} cannot be made")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@cache
def _temporary() -> Path:
    folder = tempfile.mkdtemp(prefix="withheld-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def _digest(real: Path, changed: int) -> str:
    return hashlib.sha256(real.read_bytes()).hexdigest()
