"""The pages: logging in, the class, a student, what is done with them, and what can be taken along."""

import asyncio
import math
import unicodedata

from tornado.web import HTTPError

from bugzoo.errors import UserError
from bugzoo.instructor.serve import passwords, view
from bugzoo.instructor.serve.base import WITHIN, Page
from bugzoo.instructor.serve.store import RUNNING
from bugzoo.instructor.submission import readable

MOST_WORDS, MOST_REASON = 10_000, 500


class Login(Page):
    """The only page for everybody."""

    open_to_all = True

    def get(self) -> None:
        self.show("login.html", name="")

    async def post(self) -> None:
        name, password = self.get_argument("name", ""), self.get_body_argument("password", "", strip=False)
        address = self.request.remote_ip or ""
        if wait := self.access.trying(name, address):
            self.set_status(429)
            self.set_header("Retry-After", str(math.ceil(wait)))
            self.show(
                "login.html",
                name=name,
                bad=True,
                lines=[f"Too many wrong passwords: try again in {math.ceil(wait)} s."],
            )
            return
        kept = self.access.hash_of(name)
        async with self.settings["guessing"]:  # each takes 32 MiB
            right = await asyncio.to_thread(passwords.right, password, kept)
        if not right:
            self.access.failed(name, address)
            self.set_status(403)
            self.show("login.html", name=name, bad=True, lines=["Name and password do not fit each other."])
            return
        self.remember(self.access.begin(name, address))
        self.redirect("/", status=303)


class Logout(Page):
    def post(self) -> None:
        self.access.end(self.token, self.current_user)
        self.clear_cookie(self.settings["cookie"])
        self.redirect("/login", status=303)


class Home(Page):
    """The class."""

    def get(self) -> None:
        found, job = view.of(self.facts, self.store), self.store.job()
        place = self.settings["folder"] / "submitted"
        self.show(
            "class.html", found=found, job=job, running=bool(job and job.state == RUNNING), submitted=place.is_dir()
        )


class Student(Page):
    def get(self) -> None:
        line = self.line(self.get_argument("id", ""))
        comment = self.store.comments([line.student]).get(line.student)
        job = self.store.job()
        self.show(
            "student.html",
            line=line,
            handins=self.store.of(line.student),
            overrides=self.store.overrides(line.student),
            comment=comment,
            told=view.told(line, comment["text"] if comment else ""),
            running=bool(job and job.state == RUNNING),
            readable=readable,
        )


class Grade(Page):
    """Start grading in the background: everybody, or one student again."""

    def post(self) -> None:
        student, fresh = self.get_argument("student", ""), self.get_argument("fresh", "") == "1"
        if student:
            self.line(student)
        try:
            self.grading.begin(self.current_user, student, fresh)
        except UserError as error:
            self.back([str(error)], bad=True, student=student)
            return
        self.back(["Grading has begun."], student=student)


class Stop(Page):
    def post(self) -> None:
        stopped = self.grading.stop(self.current_user)
        self.back(["Stopped. What was graded is kept." if stopped else "Nothing was running."])


class Progress(Page):
    """How far the grading is, for the page's script."""

    def get(self) -> None:
        self.grading.look()
        job = self.store.job()
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.write({"state": job.state, "done": job.done, "total": job.total} if job else {"state": ""})


class Override(Page):
    def post(self) -> None:
        line = self.line(self.get_argument("student", ""))
        text, reason = self.get_argument("points", ""), one_line(self.get_argument("reason", ""))
        if self.get_argument("remove", ""):
            if line.override is not None:
                self.store.override(line.student, None, reason or "taken back", self.current_user)
            self.back(["The grader's points count again."], student=line.student)
            return
        most = line.record.max_points
        points = number(text)
        if points is None or not 0 <= points <= most:
            self.back(
                [f"{text!r:.40} is not allowed for points; they are a number from 0 to {most:g}."], True, line.student
            )
        elif not 3 <= len(reason) <= MOST_REASON:
            self.back([f"The reason has {len(reason)} characters; it has from 3 to {MOST_REASON}."], True, line.student)
        else:
            self.store.override(line.student, points, reason, self.current_user)
            self.back([f"{points:g} of {most:g} points count from now on."], student=line.student)


class Comment(Page):
    def post(self) -> None:
        line, text = self.line(self.get_argument("student", "")), self.get_argument("text", "").replace("\r\n", "\n")
        if len(text) > MOST_WORDS:
            self.back([f"The feedback has {len(text)} characters; it has at most {MOST_WORDS}."], True, line.student)
            return
        self.store.comment(line.student, readable(text), self.current_user)
        self.back(["The feedback is kept."], student=line.student)


class Withdraw(Page):
    """Set a hand-in aside, or count it again."""

    def post(self) -> None:
        one = self.store.handin(self.number("handin"))
        if one is None:
            raise HTTPError(404, reason="There is no such hand-in")
        self.store.withdraw(one.id, self.get_argument("on", "") == "1", self.current_user)
        known = view.of(self.facts, self.store).of(one.student)
        self.back(["Done; the last hand-in that is not set aside counts."], student=one.student if known else "")


class Assign(Page):
    """Say whose an unmatched hand-in is."""

    def post(self) -> None:
        one, student = self.store.handin(self.number("handin")), self.get_argument("student", "")
        if one is None or not one.unmatched:
            raise HTTPError(404, reason="There is no such hand-in without a student")
        if student not in self.facts.people:
            self.back(["Choose whose it is."], bad=True)
            return
        self.store.assign(one.id, student, self.current_user)
        self.back([f"It is {student}'s now, and waits to be graded."], student=student)


class Gradebook(Page):
    def get(self) -> None:
        text = view.of(self.facts, self.store).gradebook()
        with self.store.writing():
            self.store.note(self.current_user, "gradebook downloaded")
        self.file("gradebook.csv", "text/csv; charset=UTF-8", text)


class Feedback(Page):
    def get(self) -> None:
        line = self.line(self.get_argument("id", ""))
        comment = self.store.comments([line.student]).get(line.student)
        self.file("feedback.txt", "text/plain; charset=UTF-8", view.told(line, comment["text"] if comment else ""))


class FeedbackPage(Page):
    """The student's own page: shown within ours, and to be kept. Its style stands in it, and it runs nothing."""

    def get(self) -> None:
        line = self.line(self.get_argument("id", ""))
        comment = self.store.comments([line.student]).get(line.student)
        drawn = self.store.picture(line.handin.id) if line.handin else ""
        made = view.page(line, self.facts.title, drawn, comment["text"] if comment else "")
        if self.get_argument("keep", ""):
            self.file("feedback.html", "text/html; charset=UTF-8", made)
            return
        self.set_header("Content-Security-Policy", WITHIN)
        self.set_header("X-Frame-Options", "SAMEORIGIN")
        self.finish(made)


class File(Page):
    """A hand-in as it came: for JupyterLab, never opened here."""

    def get(self) -> None:
        one = self.store.handin(self.number("id"))
        if one is None or not one.digest:
            raise HTTPError(404, reason="There is no such file")
        self.file(f"handin-{one.id}.ipynb", "application/octet-stream", self.store.content(one.id))


class Log(Page):
    def get(self) -> None:
        self.show("log.html", log=self.store.log(), readable=readable)


def one_line(text: str) -> str:
    """Words without line ends and without what no table shows."""
    return " ".join("".join(" " if unicodedata.category(one) in ("Cc", "Zl", "Zp") else one for one in text).split())


def number(text: str) -> float | None:
    """`7`, `7.5` or `7,5`; None for anything else."""
    try:
        found = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return found if math.isfinite(found) else None
