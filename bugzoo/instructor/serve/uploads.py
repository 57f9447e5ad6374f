"""Uploads: nothing large is read from somebody who has not logged in, and no more than is allowed from somebody who has."""

import asyncio

from tornado import httputil
from tornado.web import HTTPError, stream_request_body

from bugzoo.errors import UserError
from bugzoo.instructor.serve.base import Page
from bugzoo.instructor.serve.taking import Desk, Taken

MOST_UPLOAD = 100 * 2**20
MOST_HEARD = 2 * 2**30
"""Of more than is allowed so much is heard out and thrown away: a browser shows an answer only when it has sent all."""
MOST_FILES = 500


@stream_request_body
class Upload(Page):
    """Notebooks, or an LMS's zip, by the form of the class page."""

    def check_xsrf_cookie(self) -> None:
        """The token stands in the body, which has not come yet: `post` looks at it first."""

    def prepare(self) -> None:
        self.chunks: list[bytes] = []
        self.length = 0
        super().prepare()
        if self._finished:
            return
        if self.request.method != "POST":
            raise HTTPError(405)
        self.request.connection.set_max_body_size(MOST_HEARD)  # type: ignore[union-attr]

    def data_received(self, chunk: bytes) -> None:
        self.length += len(chunk)
        self.chunks.append(chunk)
        if self.length > MOST_UPLOAD:
            self.chunks.clear()

    async def post(self) -> None:
        if self.length > MOST_UPLOAD:
            most = MOST_UPLOAD // 2**20
            raise HTTPError(413, reason=f"One upload has at most {most} MiB - put the hand-ins into submitted/ instead")
        body = b"".join(self.chunks)
        self.chunks = []
        try:
            kind = self.request.headers.get("Content-Type", "")
            httputil.parse_body_arguments(kind, body, self.request.body_arguments, self.request.files)
        except httputil.HTTPInputError:
            raise HTTPError(400, reason="The upload could not be read") from None
        del body
        for name, values in self.request.body_arguments.items():
            self.request.arguments.setdefault(name, []).extend(values)
        super().check_xsrf_cookie()
        student = self.get_body_argument("student", "")
        if student:
            self.line(student)
        given = self.request.files.get("files", [])
        if not given or not any(one["filename"] for one in given):
            self.back(["Choose a file first."], bad=True)
        elif len(given) > MOST_FILES:
            self.back(
                [f"{len(given)} files are more than {MOST_FILES} in one upload; hand them in as one zip."], bad=True
            )
        elif student and len(given) > 1:
            self.back(["Several files of one student: upload the one that counts."], bad=True)
        else:
            lines, bad = [], False
            for one in given:
                said, failed = await self.take(one["filename"], one["body"], student)
                lines, bad = [*lines, *said], bad or failed
            self.back(lines[:60], bad)

    async def take(self, name: str, data: bytes, student: str) -> tuple[list[str], bool]:
        """What became of one file, and whether it is a mistake. One at a time, in a thread: zips take a while."""
        desk = Desk(self.settings["folder"], self.current_user)
        async with self.settings["reading"]:
            try:
                return told(await asyncio.to_thread(desk.upload, name, data, student))
            except UserError as error:
                return [str(error)], True


class Read(Page):
    """Read the folder `submitted/`."""

    async def post(self) -> None:
        desk = Desk(self.settings["folder"], self.current_user)
        async with self.settings["reading"]:
            try:
                self.back(*told(await asyncio.to_thread(desk.read_submitted)))
            except UserError as error:
                self.back([str(error)], bad=True)


def told(taken: Taken) -> tuple[list[str], bool]:
    """For the page: the lines, and whether somebody has to look."""
    return taken.lines(), bool(taken.problems or taken.unmatched or taken.left)
