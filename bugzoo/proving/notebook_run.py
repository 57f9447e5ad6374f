"""Run a notebook in a kernel of its own, without a front end. A stop interrupts the cell that runs."""

import asyncio
import contextlib
import os
import re
import tempfile
import threading
from typing import Any
from unittest.mock import patch

from bugzoo.running import stopped_by


def run_notebook(text: str, seconds: int = 300) -> list[dict[str, Any]]:
    """Run the notebook without a front end in its own kernel; return the output of every cell, [{"cell", "text"}].

    Raises asyncio.CancelledError once `worker.stop_all` was called: the cell that runs is interrupted, and cleans up.
    """
    import nbformat

    book = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        setup = {"BUGZOO_DATA": folder, "IPYTHONDIR": folder, "NBGRADER_EXECUTION": "validate", "BUGZOO_DEVICE": "cpu"}
        setup["BUGZOO_SALT"] = ""  # a proof draws the same held-out examples everywhere
        with patch.dict(os.environ, setup):
            asyncio.run(_execute(client_of(book, folder, seconds)))
    return [{"cell": cell.id, "text": _text(cell.outputs)} for cell in book.cells if cell.cell_type == "code"]


def client_of(book: Any, folder: str, seconds: int) -> Any:
    """Return the client that runs a notebook in `folder`, in its own kernel. `seconds`: time limit of a cell."""
    from nbclient import NotebookClient

    quiet, place = ["--IPKernelApp.log_level=40"], {"metadata": {"path": folder}}
    return NotebookClient(book, timeout=seconds, kernel_name="python3", extra_arguments=quiet, resources=place)


async def _execute(client: Any) -> None:
    """Run all cells; after a stop no further one begins."""
    stopping, loop = threading.Event(), asyncio.get_running_loop()

    async def interrupt() -> None:
        with contextlib.suppress(Exception):  # the kernel may not be there yet, or not any more
            await client.km.interrupt_kernel()

    def stop() -> None:  # another thread calls it, more than once
        if not stopping.is_set():
            stopping.set()
            asyncio.run_coroutine_threadsafe(interrupt(), loop)

    def begin(**_: object) -> None:
        if stopping.is_set():
            raise asyncio.CancelledError

    client.on_cell_start = begin
    with stopped_by(stop):
        await client.async_execute()


def _text(outputs: list[Any]) -> str:
    texts = []
    for output in outputs:
        texts.append("".join(output.get("text", "")))
        texts += ["".join(value) for value in output.get("data", {}).values() if isinstance(value, str | list)]
        texts += [output.get("ename", ""), output.get("evalue", ""), *output.get("traceback", [])]
    return "\n".join(re.sub(r"\x1b\[[0-9;]*m", "", text) for text in texts if isinstance(text, str) and text)
