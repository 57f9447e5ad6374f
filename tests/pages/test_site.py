"""The site: a page for everything, links that lead somewhere, spoilers folded, no exercise given away."""

import re
from pathlib import Path

import pytest

from bugzoo import diagnostics, programs
from bugzoo import faults as catalogue
from bugzoo.contracts import contracts
from bugzoo.errors import UserError
from bugzoo.grading.exercises import exercises, load
from bugzoo.pages import curves, entries, site, text


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
        counts = site.write(folder, pictures=False)
    texts = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in folder.rglob("*.md")}
    assert counts == {"pages": len(texts), "pictures": 0}
    return texts


@pytest.mark.slow
def test_everything_has_a_page(pages: dict[str, str]) -> None:
    for fault in catalogue.catalogue().values():
        page = pages[f"faults/{fault.id}.md"]
        assert page.startswith(f"# {fault.title}") and fault.report in page
        assert all(source in page for source in fault.sources)
        assert f"{fault.id}.md" in pages["faults/index.md"]
    assert {f"instruments/{name}.md" for name in diagnostics.names()} <= set(pages)
    assert {f"programs/{name}.md" for name in programs.names()} <= set(pages)
    for name, contract in contracts().items():
        assert contract.demand in pages[f"{name}.md"] and contract.breaks in pages[f"{name}.md"]
        assert contract.demand.replace("|", "\\|") in pages["contracts/index.md"]


def test_every_fault_is_found_by_its_symptom(pages: dict[str, str]) -> None:
    for fault in catalogue.catalogue().values():
        assert f"(../faults/{fault.id}.md)" in pages[f"symptoms/{fault.symptom}.md"]


def test_spoilers_are_folded(pages: dict[str, str]) -> None:
    """Why, repair, hints and what only looks like one stand in boxes that are closed."""
    for fault in catalogue.catalogue().values():
        lines = pages[f"faults/{fault.id}.md"].splitlines()
        for spoiler in (fault.why, fault.fix, *fault.hints):
            assert any(spoiler in line and line.startswith("    ") for line in lines)
            assert not any(spoiler in line and not line.startswith("    ") for line in lines)


def test_no_exercise_is_given_away(pages: dict[str, str]) -> None:
    everything = "\n".join(pages.values())
    for name in exercises():
        exercise = load(name)
        assert (
            exercise.scenario.ticket not in everything and exercise.title not in everything and name not in everything
        )


def test_numbers_come_from_the_ledger(pages: dict[str, str]) -> None:
    page = pages["faults/loop/stale_gradients.md"]
    assert re.search(r"`fresh_gradient.stale_share > 0.5`\]\([^)]*\) \| 1 \| 0 \|", page)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1.0, 3.0, 2.0], "1 to 3"), ([1.0, 1.0], "1"), ([0.5, "inf"], "0.5, inf"), ([None], "none"), ([], "none")],
)
def test_a_span(values: list, said: str) -> None:
    assert text.span(values) == said


def test_markdown_holds_whatever_stands_in_it() -> None:
    assert text.cell("x | y\nz") == "x \\| y z"
    assert text.code("```\nfence").startswith("````python")


@pytest.mark.slow
def test_the_site_is_built_and_fetches_nothing_from_elsewhere(
    pages: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_above(folder: Path, *_: object) -> dict[str, int]:
        for name, words in pages.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(words, encoding="utf-8")
        return {"pages": len(pages), "pictures": 0}

    monkeypatch.setattr(site, "write", as_above)  # the same pages, not made twice
    counts = site.build(tmp_path / "site", pictures=False)
    assert counts["pages"] > 50 and counts["bytes"] > 10**6
    page = (tmp_path / "site" / "faults" / "loss" / "double_softmax.html").read_text(encoding="utf-8")
    assert "<details" in page and "softmax" in page and "md-search__input" in page
    assert "plateaus far above zero" in (tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8")
    for file in (tmp_path / "site").rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(
            r"<(?:script|img|iframe)[^>]*https?:|<link[^>]*stylesheet[^>]*https?:|https?://unpkg", text
        ), file


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = site.markdown
    monkeypatch.setattr(site, "markdown", lambda pictures: right(pictures) | {"index.md": "[Faults](faults/gone.md)\n"})
    with pytest.raises(UserError, match=r"dead links[\s\S]*gone\.md"):
        site.build(tmp_path / "site", pictures=False)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_picture_is_drawn_from_a_real_run_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "kept"))
    fault = catalogue.load("loop/stale_gradients")
    calls: list[tuple[int, int]] = []
    first = curves.draw([fault], tmp_path / "one", lambda done, of: calls.append((done, of)))
    assert calls[0] == (0, 2) and calls[-1] == (2, 2)
    assert "svg" in first[fault.id].read_text(encoding="utf-8")[:200]
    calls.clear()
    again = curves.draw([fault], tmp_path / "two", lambda done, of: calls.append((done, of)))
    assert calls == [], "nothing is run twice"
    assert first[fault.id].read_bytes().count(b"<path") == again[fault.id].read_bytes().count(b"<path")


def test_a_term_s_page_begins_with_the_faults_that_name_it_first() -> None:
    faults = entries.of_term("zero_grad")
    assert [fault.id.partition("/")[2] for fault in faults] == [
        "stale_gradients",
        "step_every_n_never_zeroed",
        "gradients_wiped",
    ]
    places = [fault.terms.index("zero_grad") for fault in faults]
    assert places == sorted(places)
