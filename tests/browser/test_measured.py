"""A number that no visible cell made: its link, its folded cell, Run All and the button, in a real browser."""

import nbformat
import pytest

from tests.browser.conftest import ROOT
from tests.lessons.test_measured import first

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_link_leads_to_the_cell_and_its_button_measures(lab, server) -> None:
    number, key = first().split("/")
    file = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
    book = nbformat.read(file, as_version=4)
    link = f"({file.name}#cell-id={key})"
    texts = [cell for cell in book.cells if cell.cell_type == "markdown" and link in cell.source]
    assert texts, "its number is a link"
    others = [nbformat.v4.new_markdown_cell("&nbsp;<br>" * 60, id="far")]
    code_cells = [cell for cell in book.cells if cell.id in ("setup", key)]
    book.cells = [code_cells[0], texts[0], *others, code_cells[1]]
    nbformat.write(book, server.folder / "notebooks" / file.name)
    lab.open(f"notebooks/{file.name}")
    lab.run_all()
    assert lab.errors() == []
    # folded: its first line is all that the page shows of the code
    folded = lab.page.locator(f".jp-CodeCell:has-text('%%measured {number}/{key}')")
    lab.show(key)
    assert folded.locator(".jp-InputPlaceholder, .jp-Placeholder").first.is_visible()
    assert "Run All leaves this cell out." in folded.inner_text()
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        lab.theme(theme)
        lab.picture(f"measured-{theme.split()[-1].lower()}")
    folded.get_by_role("button", name="Measure").click()
    lab.until(
        "() => document.querySelector('.jp-Notebook').innerText.match(/: (measured|yes|between)/)",
        90,
        "what it measured",
    )
    assert ": no" not in folded.inner_text()
    lab.picture("measured-done")
    lab.show(texts[0].id)
    for summary in lab.page.locator(".jp-Notebook summary").all():
        summary.click()
    lab.page.locator(
        f".jp-MarkdownCell a[href*='cell-id={key}'], .jp-MarkdownCell a[data-commandlinker-args*='{key}']"
    ).first.click()
    folded.locator("button").wait_for(timeout=15_000)  # scrolled to it: far cells are not in the page
    lab.until(
        "() => { const top = document.querySelector('.jp-CodeCell .jp-InputPlaceholder, .jp-CodeCell .jp-Placeholder')"
        "?.getBoundingClientRect().top; return top > 0 && top < window.innerHeight; }",
        15,
        "the link's cell",
    )
