"""Other machines: a Dask cluster, whose workers run what `run_all` is given."""

import contextlib
import hashlib
import logging
import re
from collections.abc import Iterator
from concurrent.futures import Executor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError

_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://[^\s/:]+:\d+|(tcp|tls)://\[[0-9a-f:]+\]:\d+")
PATIENCE = 20
"""Seconds to wait for the scheduler's answer."""


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Executor | None]:
    """The executor of the cluster whose scheduler has this address, such as `tcp://127.0.0.1:8786`; None without one.

    A worker that is lost loses nothing: the scheduler gives its work to another. Raises UserError where nobody answers,
    where there is no worker, and where one has another bugzoo or torch than this process: results would not be the same.
    """
    if address is None:
        yield None
        return
    with _client(address) as client:
        yield client.get_executor()


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    if not _ADDRESS.fullmatch(address):
        raise UserError(f"--executor {address}: that is no address of a Dask scheduler; write tcp://HOST:PORT.")
    try:
        from distributed import Client
    except ImportError:
        raise UserError("--executor needs Dask, which is not installed: pip install 'bugzoo[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # that a worker is lost is no news worth a traceback
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"--executor {address}: no scheduler answers there ({why}). Start one with `dask scheduler`, and workers with "
            f"`dask worker {address}`."
        ) from None
    try:
        _same_everywhere(client, address)
        yield client
    finally:
        client.close()


def _same_everywhere(client: Any, address: str) -> None:
    try:
        found = client.run(what_runs_here)
    except Exception as error:  # a worker's own ImportError arrives as it is
        raise UserError(
            f"--executor {address}: a worker has no bugzoo ({error}). Install the same one there."
        ) from None
    if not found:
        raise UserError(f"--executor {address}: it has no workers. Start some with `dask worker {address}`.")
    strange = sorted(worker for worker, theirs in found.items() if theirs != what_runs_here())
    if strange:
        raise UserError(
            f"--executor {address}: {', '.join(strange)} runs another bugzoo or torch than this machine, so that results "
            "would not be the same. Install the same versions there."
        )


def what_runs_here() -> tuple[str, str]:
    """(hash of this bugzoo's files, torch's version)."""
    root, digest = Path(__file__).parent.parent, hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest(), version("torch")
