"""What an instructor does, in a real browser: logs in, uploads, grades in the sandbox, overrides, takes the gradebook along."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.store import Store
from tests.browser.conftest import PICTURES
from tests.instructor.serve.conftest import NAME, PASSWORD, served

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("sandboxed")]


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with Store.open(folder) as store:
        Access(store).add(NAME, PASSWORD)
    with served(folder) as (_, found):
        yield found


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    found = context.new_page()
    found.errors, found.asked = [], []
    found.on("pageerror", lambda error: found.errors.append(str(error)))
    found.on("console", lambda line: found.errors.append(line.text) if line.type == "error" else None)
    found.on("request", lambda request: found.asked.append(request.url))
    yield found
    context.close()


def pictures(page: Any, name: str) -> None:
    """In light and in dark, for whoever looks."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=PICTURES / f"classroom_{name}_{scheme}.png", full_page=True)


def test_a_class_in_a_browser(page: Any, address: str, folder: Path, tmp_path: Path) -> None:
    page.goto(address)
    assert page.url.endswith("/login")
    assert page.evaluate("document.activeElement.id") == "name"
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill("a wrong one")
    page.keyboard.press("Enter")
    assert page.get_by_role("alert").inner_text().endswith("do not fit each other.")
    pictures(page, "login")
    assert page.errors and all("403" in line for line in page.errors)  # the browser's own line about a wrong password
    page.errors.clear()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    assert page.get_by_role("heading", level=1).inner_text() == "The class"

    # one for a student, one that nobody on the roster fits
    page.get_by_label("Notebooks, or the zip").set_input_files(folder / "instructor/solution.ipynb")
    page.get_by_label("Whose it is").select_option("s1")
    page.get_by_role("button", name="Upload").click()
    assert "1 new hand-in" in page.get_by_role("status").first.inner_text()
    (tmp_path / "student_9.ipynb").write_bytes((folder / "student/week_3.ipynb").read_bytes())
    page.get_by_label("Notebooks, or the zip").set_input_files(tmp_path / "student_9.ipynb")
    page.get_by_role("button", name="Upload").click()
    assert "belongs to nobody yet" in page.get_by_role("alert").inner_text()
    whose = page.locator("section[aria-labelledby=nobodys]")
    whose.get_by_label("Whose it is").select_option("s2")
    pictures(page, "uploaded")
    whose.get_by_role("button", name="Give").click()
    page.get_by_role("link", name="Back to the class").click()

    page.get_by_role("button", name="Grade", exact=True).click()
    assert page.get_by_role("button", name="Stop").is_visible()
    page.locator("#said", has_text="of 2 graded").wait_for(timeout=120_000)
    pictures(page, "grading")
    page.get_by_text("came to its end").wait_for(timeout=400_000)  # the page loads itself again
    rows = page.locator("#class tbody tr")
    assert [rows.nth(at).locator("td").nth(2).inner_text() for at in range(3)] == [
        "✓ passed",
        "○ not attempted",
        "– not handed in",
    ]
    assert rows.nth(0).locator("td").nth(5).inner_text() == "10"

    page.get_by_role("link", name="s2", exact=True).click()
    page.get_by_label("Points, 0 to 10").fill("4,5")
    page.get_by_label("Reason").fill("explained it in the lecture <i>")
    page.get_by_role("button", name="Set the points").click()
    page.get_by_label("Your own words").fill("Well explained.\nRead the loss first.")
    page.get_by_role("button", name="Keep").click()
    assert "Well explained." in page.get_by_role("region", name="What the student gets").inner_text()
    pictures(page, "student")
    page.get_by_role("link", name="Back to the class").click()
    page.get_by_role("link", name="s1", exact=True).click()
    own = page.frame_locator("iframe.page")
    own.get_by_role("img", name="Loss and gradient norm").wait_for(timeout=30_000)
    assert "Your run came to its end" in own.locator("figcaption").inner_text()
    assert own.locator("h1").evaluate("one => getComputedStyle(one).fontSize") == "24px", "its own style holds"
    pictures(page, "checks")
    page.get_by_role("link", name="Back to the class").click()
    assert rows.nth(1).locator("td").nth(5).inner_text() == "4.5 set by hand"
    pictures(page, "class")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the gradebook").click()
    download.value.save_as(tmp_path / "book.csv")
    with (tmp_path / "book.csv").open(newline="") as file:
        found = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {name: row["score"] for name, row in found.items()} == {"s1": "10.0", "s2": "4.5", "s3": "0.0"}
    assert found["s3"]["first_name"].startswith("'=cmd")

    # by keys alone, in a narrow window, and with nothing asked of another machine
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "only tables scroll sideways"
    pictures(page, "narrow")
    page.keyboard.press("Tab")
    for kind in ("input:not([type=hidden])", "select", "textarea"):
        for at in range(page.locator(kind).count()):
            assert page.locator(kind).nth(at).evaluate("one => one.labels.length"), "every field has a label"
    assert all(one.startswith(address) for one in page.asked), [
        one for one in page.asked if not one.startswith(address)
    ]
    page.get_by_role("button", name="Log out").click()
    page.go_back()
    assert page.url.endswith("/login") or page.get_by_label("Password").count(), "nothing is shown from what was kept"
    assert page.errors == []


def test_without_a_script(chromium: Any, address: str, folder: Path) -> None:
    """Everything but the moving number works; the page loads itself again."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Notebooks, or the zip").set_input_files(folder / "student/week_3.ipynb")
    page.get_by_label("Whose it is").select_option("s1")
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Grade", exact=True).click()
    page.get_by_text("came to its end").wait_for(timeout=400_000)
    assert "not attempted" in page.locator("#class tbody tr").first.inner_text()
    context.close()
