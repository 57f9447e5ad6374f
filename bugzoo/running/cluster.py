"""Run on other machines: a Dask cluster whose workers execute the items of `run_all`."""

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
    """Yield the executor of the cluster with this scheduler address, such as `tcp://127.0.0.1:8786`. None gives None.

    If a worker is lost, the scheduler gives its work to another one. Raises UserError if no scheduler answers, if there
    are no workers, or if a worker has another version of bugzoo or torch, because results would differ.
    """
    if address is None:
        yield None
        return
    with _client(address) as client:
        yield client.get_executor()


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    if not _ADDRESS.fullmatch(address):
        raise UserError(f"--executor {address}: that is not a Dask scheduler's address; write tcp://HOST:PORT.")
    try:
        from distributed import Client
    except ImportError:
        raise UserError("--executor needs Dask, which is not installed: pip install 'bugzoo[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # no traceback when a worker is lost
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"--executor {address}: no scheduler answers ({why}). Start one with `dask scheduler`, and workers with "
            f"`dask worker {address}`."
        ) from None
    try:
        _same_everywhere(client, address)
        yield client
    finally:
        client.close()


def _same_everywhere(client: Any, address: str) -> None:
    try:
        versions = client.run(what_runs_here)
    except Exception as error:  # a worker's own ImportError arrives as it is
        raise UserError(
            f"--executor {address}: a worker has no bugzoo ({error}). Install the same version there."
        ) from None
    if not versions:
        raise UserError(f"--executor {address}: the cluster has no workers. Start some with `dask worker {address}`.")
    strange = sorted(worker for worker, theirs in versions.items() if theirs != what_runs_here())
    if strange:
        raise UserError(
            f"--executor {address}: {', '.join(strange)} has another version of bugzoo or torch, so results would "
            "differ. Install the same versions as on this machine."
        )


def what_runs_here() -> tuple[str, str]:
    """Return (hash of this bugzoo's files, torch's version)."""
    root, digest = Path(__file__).parent.parent, hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest(), version("torch")
