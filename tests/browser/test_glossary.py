"""A word that is linked in a lesson, in a real browser: the click opens the glossary at the word's own entry."""

import nbformat
import pytest

from bugzoo.glossary import TERMS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = ("residual connection", "RNG state", "optimizer.step()", "OOM (out of memory)", "all_reduce")
"""Entries far down, and names that a browser could write in another way."""


def test_a_link_opens_the_glossary_at_its_entry(lab, server) -> None:
    links = {term.name: term.link for term in TERMS}
    text = "\n\n".join(f"[{place}]({links[name]})" for place, name in enumerate(WORDS))
    folded = f"<details><summary>more</summary>\n\n{text}\n\n</details>"
    form = "from bugzoo import lab\nlab.hints(['a hint'], costs=(1,))"
    cells = [nbformat.v4.new_markdown_cell(folded, id="links"), nbformat.v4.new_code_cell(form, id="form")]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, server.folder / "notebooks" / "links.ipynb")
    lab.open("notebooks/links.ipynb")
    lab.run_cell("form")  # brings the page's script
    lab.page.locator(".jp-Notebook summary").click()
    for place, name in enumerate(WORDS):  # the first one opens the glossary
        lab.page.locator(f".jp-MarkdownCell details a:text-is('{place}')").first.click()
        lab.until(
            "() => { const widget = window.jupyterapp.shell.currentWidget;"
            " if (!widget.context?.path.endsWith('glossary.ipynb')) return false;"
            " const heads = [...widget.node.querySelectorAll('.jp-Notebook h2')];"
            f" const head = heads.find(one => one.textContent.replace('¶', '').trim() === {name!r});"
            " const top = head?.getBoundingClientRect().top; return top > 0 && top < 400; }",
            20,
            f"the glossary at {name}",
        )
        lab.picture(f"glossary-{place}")
        lab.command("application:activate-previous-tab")
