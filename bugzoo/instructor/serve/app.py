"""The server: put together, bound to its address, and ended in order."""

import asyncio
import contextlib
import fcntl
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import jinja2
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.web import Application, StaticFileHandler

from bugzoo.errors import UserError
from bugzoo.instructor.folder import FOLDER
from bugzoo.instructor.serve import handlers, uploads
from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.base import HEADERS, Missing
from bugzoo.instructor.serve.grading import Grading
from bugzoo.instructor.serve.store import Store
from bugzoo.instructor.serve.view import Facts

HERE = Path(__file__).parent
LOCAL = ("127.0.0.1", "::1", "localhost")
SMALL_BODY = 2**20
"""Bytes of a request that is no upload."""
LOOK = 500
"""Milliseconds between two looks at the grader."""


class Static(StaticFileHandler):
    """Our own style, script and sign."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)


def application(folder: Path, store: Store, grading: Grading, port: int, host: str) -> Application:
    """All pages of one class."""
    access = Access(store)
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pages = [
        ("/", handlers.Home), ("/login", handlers.Login), ("/logout", handlers.Logout), ("/student", handlers.Student),
        ("/upload", uploads.Upload), ("/read", uploads.Read), ("/grade", handlers.Grade), ("/stop", handlers.Stop),
        ("/progress", handlers.Progress), ("/override", handlers.Override), ("/comment", handlers.Comment),
        ("/withdraw", handlers.Withdraw), ("/assign", handlers.Assign), ("/gradebook.csv", handlers.Gradebook),
        ("/feedback.txt", handlers.Feedback),
        ("/feedback.html", handlers.FeedbackPage), ("/handin.ipynb", handlers.File), ("/log", handlers.Log),
        (r"/static/(style\.css|progress\.js|sign\.svg)", Static, {"path": HERE / "static"}),
    ]  # fmt: skip
    return Application(
        pages, default_handler_class=Missing, folder=folder, store=store, access=access, grading=grading,
        facts=Facts.read(folder), templates=templates, names={*LOCAL} if host in LOCAL else set(),
        reading=asyncio.Lock(), guessing=asyncio.Semaphore(2), cookie_secret=access.secret(), xsrf_cookies=True,
        # other servers on this machine, such as JupyterLab, get the same cookies: names of our own
        cookie=f"bugzoo_{port}", xsrf_cookie_name=f"bugzoo_xsrf_{port}",
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict", "path": "/"}, serve_traceback=False,
        log_function=lambda handler: None,  # the terminal is for mistakes of ours; who did what is in the database
    )  # fmt: skip


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One server a folder. Raises UserError where there is another."""
    path = folder / FOLDER / "classroom.lock"
    try:
        lock: IO[str] = path.open("w")
    except OSError as error:
        raise UserError(f"{path} could not be written: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"{folder} is served already, by another process. Stop that one first.") from None
        yield


def serve(
    folder: Path, host: str = "127.0.0.1", port: int = 0, workers: int | None = None,
    ready: Callable[[str, bool], None] | None = None,
) -> None:  # fmt: skip
    """Serve until SIGINT or SIGTERM. `ready` hears the address and whether a grading goes on. Raises UserError."""
    Facts.read(folder)
    with alone(folder), Store.open(folder) as store:
        if not Access(store).users():
            raise UserError(
                f"Nobody may log in yet, so that the page is not served. Type: bugzoo classroom user add NAME {folder}"
            )
        asyncio.run(_serve(folder, store, host, port, workers, ready))


async def _serve(
    folder: Path, store: Store, host: str, port: int, workers: int | None, ready: Callable[[str, bool], None] | None
) -> None:
    try:
        sockets = bind_sockets(port, host)
    except OSError as error:
        raise UserError(f"{host} port {port} cannot be served: {error.strerror}. Say another --port.") from None
    port = sockets[0].getsockname()[1]
    grading = Grading(folder, store, workers)
    server = HTTPServer(
        application(folder, store, grading, port, host), max_body_size=SMALL_BODY, max_header_size=2**15
    )
    server.add_sockets(sockets)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop.set)
    look = PeriodicCallback(grading.look, LOOK)
    try:
        resumed = grading.resume()
        look.start()
        if ready:
            ready(f"http://{f'[{host}]' if ':' in host else host}:{port}/", resumed)
        await stop.wait()
    finally:
        look.stop()
        server.stop()
        grading.close()
