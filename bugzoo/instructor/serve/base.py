"""What all pages share: who is asking, from where, the headers that keep the browser strict, and errors in plain words."""

import http
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.web import HTTPError, RequestHandler

from bugzoo.errors import UserError
from bugzoo.instructor.serve import view
from bugzoo.instructor.serve.access import HOURS, Access
from bugzoo.instructor.serve.grading import Grading
from bugzoo.instructor.serve.store import Store

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
WITHIN = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
"""Of a student's page, which stands within ours."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "bugzoo",
}


class Page(RequestHandler):
    """A page for somebody who has logged in; `open_to_all` for the others."""

    open_to_all = False
    token = ""

    @property
    def store(self) -> Store:
        return self.settings["store"]

    @property
    def access(self) -> Access:
        return self.settings["access"]

    @property
    def grading(self) -> Grading:
        return self.settings["grading"]

    @property
    def facts(self) -> view.Facts:
        return self.settings["facts"]

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        self.check_host()
        if not self.open_to_all and not self.current_user:
            if self.request.method == "GET" and self.request.headers.get("Sec-Fetch-Dest", "document") == "document":
                self.redirect("/login")
                return
            raise HTTPError(403, reason="Log in first")

    def check_host(self) -> None:
        """Another site's name that leads to this address would make its pages ours: only names of our own are answered."""
        names: set[str] = self.settings["names"]
        try:
            asked = urlsplit(f"//{self.request.host}").hostname or ""
        except ValueError:
            asked = ""
        if names and asked not in names:
            raise HTTPError(421, reason="Misdirected Request")

    def get_current_user(self) -> str:
        kept = self.get_signed_cookie(self.settings["cookie"], max_age_days=1)
        self.token = kept.decode("ascii", "replace") if kept else ""
        return self.access.user(self.token) if self.token else ""

    def remember(self, token: str) -> None:
        self.set_signed_cookie(
            self.settings["cookie"], token, expires_days=HOURS / 24, httponly=True, samesite="Strict", path="/"
        )

    def show(self, template: str, **values: Any) -> None:
        """A page made of a template; what was to be told is told now."""
        bad, lines = self.access.told(self.token) if self.current_user else (False, [])
        values = {"bad": bad, "lines": lines} | values
        made = self.settings["templates"].get_template(template)
        self.finish(
            made.render(
                facts=self.facts,
                user=self.current_user,
                xsrf=self.xsrf_token.decode(),
                page=self.request.path,
                **values,
            )
        )

    def back(self, lines: list[str], bad: bool = False, student: str = "") -> None:
        """To the class or to a student, with something to tell."""
        self.access.tell(self.token, lines, bad)
        self.redirect("/student?" + urlencode({"id": student}) if student else "/", status=303)

    def file(self, name: str, kind: str, data: str | bytes) -> None:
        """Something to be kept, never to be shown by the browser."""
        self.set_header("Content-Type", kind)
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(data)

    def line(self, student: str) -> view.Line:
        """A student of the class. Raises 404."""
        found = view.of(self.facts, self.store).of(student)
        if found is None:
            raise HTTPError(404, reason="There is no such student in this class")
        return found

    def number(self, name: str) -> int:
        """A number that our own page put into a form or an address. Raises 400."""
        text = self.get_argument(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            raise HTTPError(400, reason=f"{name} is no number")
        return int(text)

    def write_error(self, status_code: int, **about: Any) -> None:
        error = about.get("exc_info", (None, None, None))[1]
        if isinstance(error, UserError):  # a database that is locked or full
            self.set_status(503)
            said = str(error)
        elif isinstance(error, HTTPError):
            said = error.reason or error.log_message or ""
        else:
            said = ""
        known = http.HTTPStatus(status_code).phrase if status_code in set(http.HTTPStatus) else "Error"
        made = self.settings["templates"].get_template("error.html")
        self.finish(
            made.render(facts=self.facts, user="", status=self.get_status(), said=said or known, lines=[], page="")
        )

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        if not isinstance(value, UserError):  # that is said on the page, and needs no traceback
            super().log_exception(typ, value, tb)


class Missing(Page):
    """Whatever there is not: the same for everybody, so that it tells nothing."""

    open_to_all = True

    def prepare(self) -> None:
        self.check_host()
        raise HTTPError(404, reason="There is no such page")
