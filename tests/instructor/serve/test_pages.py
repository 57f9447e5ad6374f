"""The pages, asked over a socket by somebody who means well and by somebody who does not."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from bugzoo.instructor.records import Record
from bugzoo.instructor.serve import uploads
from bugzoo.instructor.serve.store import Store
from bugzoo.instructor.submission import MOST_BYTES
from tests.instructor.serve.conftest import NAME, PASSWORD, Client, until

Ask = Callable[[], Client]
GETS = (
    "/",
    "/student?id=s1",
    "/progress",
    "/gradebook.csv",
    "/feedback.txt?id=s1",
    "/feedback.html?id=s1",
    "/handin.ipynb?id=1",
    "/log",
)
POSTS = ("/upload", "/read", "/grade", "/stop", "/override", "/comment", "/withdraw", "/assign", "/logout")
BAD = "<script>alert(1)</script>"


def notebook(folder: Path) -> bytes:
    return (folder / "student/week_3.ipynb").read_bytes()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_nobody_sees_anything_without_a_password(server: Ask, folder: Path) -> None:
    stranger = server()
    for path in GETS:
        answer = stranger.get(path)
        assert (answer.status, answer.headers["Location"], answer.body) == (302, "/login", b""), path
        assert stranger.get(path, Sec_Fetch_Dest="empty").status == 403
    stranger.get("/login")
    for path in POSTS:
        assert stranger.post(path, handin="1", student="s1").status == 403, path
    assert stranger.upload("s1.ipynb", notebook(folder)).status == 403
    assert "s1" not in stranger.get("/login").text
    with Store.open(folder) as store:
        assert store.last() == [] and store.job() is None


def test_logging_in_and_out(server: Ask) -> None:
    client = server()
    answer = client.get("/login")
    assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Strict" in answer.headers["Set-Cookie"]
    answer = client.post("/login", name=NAME, password=PASSWORD)
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Strict" in answer.headers["Set-Cookie"]
    page = client.get("/")
    assert page.status == 200 and "Zoë" in page.text
    assert (
        "script-src 'self'" in page.headers["Content-Security-Policy"] and page.headers["Cache-Control"] == "no-store"
    )
    assert (
        "'unsafe" not in page.headers["Content-Security-Policy"]
        and "https://" not in page.text + client.get("/static/style.css").text
    )
    kept = dict(client.cookies)
    assert client.post("/logout").status == 303
    client.cookies = kept  # a cookie that somebody copied before
    assert client.get("/").status == 302


def test_a_cookie_that_was_made_up(server: Ask, inside: Client) -> None:
    name = next(one for one in inside.cookies if not one.startswith("bugzoo_xsrf"))
    value = inside.cookies[name]
    for made in (value[:-1] + ("0" if value[-1] != "0" else "1"), "ada", "2|1:0|10:1|6:bugzoo|4:YWRh|00", ""):
        stranger = server()
        stranger.cookies[name] = made
        assert stranger.get("/").status == 302, made


def test_wrong_passwords_are_slowed_down(server: Ask) -> None:
    client = server()
    client.get("/login")
    said = [
        client.post("/login", name=name, password="wrong one, " + name)
        for name in ("ada", "nobody", "ada", "ada", "ada")
    ]
    assert {one.status for one in said} == {403}
    assert {re.sub(r'value="[^"]*"', "", one.text) for one in said} == {re.sub(r'value="[^"]*"', "", said[0].text)}, (
        "a name is not told"
    )
    locked = client.post("/login", name=NAME, password=PASSWORD)
    assert locked.status == 429 and "try again in" in locked.text and 0 < int(locked.headers["Retry-After"]) <= 5
    assert until(lambda: client.post("/login", name=NAME, password=PASSWORD).status == 303, 20)


def test_the_log_holds_no_password_that_was_typed_as_a_name(inside: Client, server: Ask) -> None:
    client = server()
    client.get("/login")
    client.post("/login", name="eleven-small-ducks", password="x")
    log = inside.get("/log").text
    assert "wrong password" in log and "a name that nobody has" in log and "eleven" not in log


def test_forms_of_another_site(inside: Client, folder: Path) -> None:
    """Without the token, with one that is not ours, and with the cookie gone."""
    for token in ("", "2|00000000|00|1", "x"):
        for path in POSTS:
            if path != "/upload":
                assert (
                    inside.post(path, token=token or "", handin="1", student="s1", points="10", reason="eve").status
                    == 403
                )
        assert inside.upload("s1.ipynb", notebook(folder), token=token).status == 403
    assert inside.get("/").status == 200, "nor is anybody logged out"
    assert Client(inside.port).post("/login", token="", name=NAME, password=PASSWORD).status == 403
    with Store.open(folder) as store:
        assert store.last() == [] and store.overrides() == []


def test_names_of_other_sites_are_not_answered(inside: Client) -> None:
    for host, status in {
        "evil.example": 421,
        "localhost": 200,
        f"127.0.0.1:{inside.port}": 200,
        "127.0.0.1.evil.example": 421,
    }.items():
        assert inside.get("/", Host=host).status == status, host
        assert inside.get("/static/style.css", Host=host).status == 200


def test_paths_that_lead_out(inside: Client, folder: Path) -> None:
    secret = json.loads((folder / "instructor/key.json").read_text())["answers"][0]["fault"]
    for path in (
        "/static/../../key.json", "/static/%2e%2e/%2e%2e/key.json", "/static//etc/passwd", "/static/style.css/../schema.py",
        "/static/..%2fschema.py", "/instructor/key.json", "/../instructor/key.json", "/handin.ipynb?id=../../key.json",
        "/handin.ipynb?id=-1", "/handin.ipynb?id=99", "/handin.ipynb?id=1%00", "/student?id=../s1", "/student?id=%00",
        "/feedback.txt?id=/etc/passwd", "/student", "/handin.ipynb?id=%F0%9D%9F%99", "/static/",
    ):  # fmt: skip
        answer = inside.get(path)
        assert answer.status in (400, 404), path
        assert secret not in answer.text and "root:" not in answer.text and "Traceback" not in answer.text
    assert inside.get(f"/student?id={BAD}".replace("<", "%3C")).status == 404


def test_upload_of_notebooks(inside: Client, folder: Path) -> None:
    data = notebook(folder)
    assert "1 new hand-in, 0 known" in inside.upload("s1.ipynb", data).text
    assert "0 new hand-ins, 1 known" in inside.upload("s1.ipynb", data).text
    assert "1 new hand-in" in inside.upload("../../../../etc/whatever.ipynb", data + b"\n", "s2").text
    assert "belongs to nobody yet: stranger" in inside.upload("stranger.ipynb", data).text
    assert "is no notebook (.ipynb) and no zip" in inside.upload("s1.py", b"print(1)").text
    assert "is empty" in inside.upload("s1.ipynb", b"").text
    assert "Choose a file first" in inside.upload("", b"").text
    assert inside.upload("s1.ipynb", data, "nobody").status == 404
    assert "has more than 20 MiB" in inside.upload("s3.ipynb", b" " * (MOST_BYTES + 1)).text
    page = inside.upload(f"s1{BAD}.ipynb", data + b"  ", "s1").text
    assert BAD not in page and BAD not in inside.get("/student?id=s1").text
    with Store.open(folder) as store:
        found = {one.student: one for one in store.last()}
        assert sorted(found) == ["s1", "s2", "s3", "stranger"]
        assert store.content(found["s2"].id) == data + b"\n" and found["s2"].file == "whatever.ipynb"
        number = found["stranger"].id
    got = inside.get(f"/handin.ipynb?id={number}")
    assert got.body == data and got.headers["Content-Disposition"] == f'attachment; filename="handin-{number}.ipynb"'
    assert not (folder / "submitted").exists() and not list(folder.rglob("whatever*"))

    # whose it is, said by hand; then set aside, and counted again
    assert inside.post("/assign", handin=str(number), student="nobody").status == 303
    inside.post("/assign", handin=str(number), student="s3")
    assert "Nobody's hand-ins" not in inside.get("/").text
    page = inside.get("/student?id=s3").text
    assert f'handin" value="{number}"' in page and "stranger.ipynb" in page
    assert inside.post("/assign", handin=str(number), student="s1").status == 404, "it has a student"


def test_upload_of_a_bomb_and_other_zips(inside: Client, folder: Path) -> None:
    data = notebook(folder)
    page = inside.upload("all.zip", zipped(**{
        "s1/week_3/week_3.ipynb": data, "../s2/week_3/week_3.ipynb": data, "/etc/s2.ipynb": data,
        "s3/week_3/week_3.ipynb": b"0" * (15 * 2**20), "s2/readme.txt": b"hello",
    })).text  # fmt: skip
    assert "its name leads out of the zip" in page and "times as large as in the zip" in page
    with Store.open(folder) as store:
        found = {one.student: one for one in store.last()}
    assert found["s1"].digest and not found["s1"].problem and found["s1"].file == "all.zip/s1/week_3/week_3.ipynb"
    assert found["s3"].problem and not found["s3"].digest
    assert not (folder.parent / "s2").exists()

    link = io.BytesIO()
    with zipfile.ZipFile(link, "w") as archive:
        one = zipfile.ZipInfo("s2/week_3/week_3.ipynb")
        one.external_attr = 0o120777 << 16
        archive.writestr(one, "/etc/passwd")
    assert "it is a link" in inside.upload("link.zip", link.getvalue()).text
    assert (
        "could not be"
        in (page := inside.upload("cut.zip", zipped(**{"s1.ipynb": data})[:-60] + b"PK\5\6" + b"\0" * 18).text)
        or "no hand-in" in page
    )
    assert "/tmp" not in page
    assert "Leave the student out" in inside.upload("all.zip", zipped(**{"s1.ipynb": data}), "s1").text
    assert inside.get("/").status == 200


def test_uploads_that_are_too_large(inside: Client, server: Ask, folder: Path) -> None:
    """Heard out and thrown away, so that a browser shows why; of a stranger nothing is heard."""
    answer = inside.ask(
        "POST", "/upload", bytes(uploads.MOST_UPLOAD + 1), Content_Type="multipart/form-data; boundary=x"
    )
    assert answer.status == 413 and "put the hand-ins into submitted/" in answer.text
    stranger = server()
    stranger.get("/login")
    for path, length, status in (("/upload", 2**40, 403), ("/upload", 2**22, 403), ("/login", 2**21, 400)):
        form = "application/x-www-form-urlencoded"
        assert stranger.ask("POST", path, b"x", Content_Type=form, Content_Length=str(length)).status == status, path
    for kind in ("multipart/form-data; boundary=x", "multipart/form-data", "text/plain"):
        assert inside.ask("POST", "/upload", b"junk", Content_Type=kind).status in (400, 403)
    with Store.open(folder) as store:
        assert store.last() == []
    assert inside.get("/").status == 200


def test_the_folder_submitted(inside: Client, folder: Path, tmp_path: Path) -> None:
    assert "Read the folder" not in inside.get("/").text
    inside.post("/read")
    assert "There is no folder" in inside.get("/").text
    place = folder / "submitted/s1/week_3"
    place.mkdir(parents=True)
    (place / "week_3.ipynb").write_bytes(notebook(folder))
    (place / "timestamp.txt").write_text("2026-01-02 03:04:05 UTC\n")
    (folder / "submitted/s2").mkdir()
    (folder / "submitted/s2/week_3.ipynb").symlink_to(folder / "instructor/key.json")
    inside.post("/read")
    page = inside.get("/").text
    assert "2 new hand-ins" in page and "it is a link" in page and "2026-01-02 03:04" in page
    inside.post("/read")
    assert "0 new hand-ins, 2 known" in inside.get("/").text


def test_what_a_submission_wrote_is_text(inside: Client, folder: Path) -> None:
    """A result that is as bad as one can be, on every page, in the feedback and in the gradebook."""
    inside.upload("s1.ipynb", notebook(folder))
    check = {"name": BAD, "status": "wrong", "saw": f"{BAD} \x1b[31m \u202e", "expected": BAD, "share": 0.0}
    part = {"status": "wrong", "points": 1.0, "max_points": 7.0, "message": BAD, "checks": [check]}
    with Store.open(folder) as store:
        job = store.begin(NAME)
        record = Record("s1", "wrong", 1.0, 10.0, BAD, [f"note {BAD}", "=1+1"], repair=part, by="key", file=BAD)
        store.keep(store.last()[0].id, job, record)
        store.end(job, "failed", BAD)
    inside.post("/override", student="s1", points="8,5", reason=f"=2+5 {BAD}\n\x1b[31m")
    inside.post("/comment", student="s1", text=f"</textarea>{BAD}\r\nsecond line\u202e")
    for path in ("/", "/student?id=s1", "/log"):
        page = inside.get(path).text
        assert page.count("<script") == page.count('<script src="/static/progress.js"') == 0, path
        assert "&lt;script&gt;" in page and "\x1b" not in page and "\u202e" not in page
        assert "<b>bold" not in page and 'value="<' not in page
    feedback = inside.get("/feedback.txt?id=s1")
    assert (
        feedback.headers["Content-Type"].startswith("text/plain")
        and feedback.headers["X-Content-Type-Options"] == "nosniff"
    )
    assert "Points: 8.5 of 10 (set by the instructor)." in feedback.text and "second line" in feedback.text
    rows = {row["student_id"]: row for row in csv.DictReader(io.StringIO(inside.get("/gradebook.csv").text))}
    assert (
        rows["s1"]["score"] == "8.5"
        and "points set by ada: =2+5" in rows["s1"]["note"]
        and "(the grader gave 1 points)" in rows["s1"]["note"]
    )
    assert rows["s3"]["first_name"].startswith("'=") and rows["s2"]["last_name"] == "محمد علي"
    assert not [cell for row in rows.values() for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_the_student_s_own_page(inside: Client, folder: Path) -> None:
    """Within ours, by its own strict policy; with the picture, the override and the instructor's words, and no answer."""
    assert "not handed in" in inside.get("/feedback.html?id=s1").text
    inside.upload("s1.ipynb", notebook(folder), "s1")
    check = {"name": "loss", "status": "wrong", "saw": BAD, "expected": "less"}
    part = {"status": "wrong", "points": 1.0, "max_points": 7.0, "message": "", "checks": [check]}
    with Store.open(folder) as store:
        job = store.begin(NAME)
        record = Record("s1", "wrong", 1.0, 10.0, notes=["for the instructor"], repair=part, by="key")
        store.keep(store.last()[0].id, job, record, '<figure role="img"><svg></svg></figure>')
        store.end(job, "done")
    inside.post("/override", student="s1", points="4", reason="the idea was right")
    inside.post("/comment", student="s1", text="Well done.\n<b>Truly</b>.")
    page = inside.get("/feedback.html?id=s1")
    policy = page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "SAMEORIGIN" and "frame-ancestors 'self'" in policy
    assert "script" not in policy and "default-src 'none'" in policy
    for said in (
        "4 of 10 points",
        "the idea was right",
        "<svg></svg>",
        "Well done.",
        "&lt;b&gt;Truly",
        "&lt;script&gt;",
    ):
        assert said in page.text, said
    assert BAD not in page.text and "for the instructor" not in page.text and "double_softmax" not in page.text
    kept = inside.get("/feedback.html?id=s1&keep=1")
    assert kept.text == page.text and "attachment" in kept.headers["Content-Disposition"]
    assert kept.headers["X-Frame-Options"] == "DENY"
    assert "feedback.html?id=s1" in inside.get("/").text and "<iframe" in inside.get("/student?id=s1").text
    assert inside.get("/feedback.html?id=nobody").status == 404


def test_overrides(inside: Client, folder: Path) -> None:
    for points, reason, said in (
        ("11", "a good one", "from 0 to 10"), ("-1", "a good one", "from 0 to 10"), ("nan", "a good one", "from 0 to 10"),
        ("1e400", "a good one", "from 0 to 10"), ("seven", "a good one", "from 0 to 10"), ("7", "", "0 characters"),
        ("7", " \n ", "0 characters"), ("7", "x" * 501, "501 characters"),
    ):  # fmt: skip
        inside.post("/override", student="s1", points=points, reason=reason)
        assert said in inside.get("/student?id=s1").text, (points, reason)
    assert inside.post("/override", student="nobody", points="7", reason="a good one").status == 404
    inside.post("/override", student="s1", points="7.5", reason="ill, handed in on paper")
    page = inside.get("/student?id=s1").text
    assert "ill, handed in on paper" in page and "set by hand" in inside.get("/").text
    inside.post("/override", student="s1", remove="1")
    page = inside.get("/student?id=s1").text
    assert "taken back" in page and "set by hand" not in inside.get("/").text
    log = inside.get("/log").text
    assert "s1: 7.5 points; ill, handed in on paper" in log and "s1: taken back" in log


def test_who_is_absent_and_who_may_be(inside: Client, folder: Path) -> None:
    """A zero only where none of the unmatched could be theirs, as `bugzoo grade` has it."""
    rows = {row["student_id"]: row for row in csv.DictReader(io.StringIO(inside.get("/gradebook.csv").text))}
    assert [(row["score"], row["state"]) for row in rows.values()] == [("0.0", "not handed in")] * 3
    inside.upload("stranger.ipynb", notebook(folder))
    rows = {row["student_id"]: row for row in csv.DictReader(io.StringIO(inside.get("/gradebook.csv").text))}
    assert [(rows[name]["score"], rows[name]["state"]) for name in ("s1", "s2")] == [("", "unmatched hand-ins")] * 2
    assert rows["stranger"]["score"] == "" and rows["stranger"]["state"] == "not graded yet"
    assert rows["stranger"]["note"].startswith("NOBODY'S HAND-IN")
