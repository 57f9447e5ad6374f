"""Jupyter Notebook 7 instead of JupyterLab: a lesson runs there, its plot is drawn, its buttons answer."""

import pytest

from tests.browser.conftest import Lab
from tests.browser.test_lesson_03 import points, press, status, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def notebook_7(lab) -> Lab:
    """The same page, which opens what it is told to in the other application."""
    pytest.importorskip("notebook")

    class Seven(Lab):
        def address(self, notebook: str) -> str:
            return f"{self.url}/notebooks/{notebook}"

    return Seven(lab.page, lab.url)


def test_the_live_run_of_a_lesson(notebook_7) -> None:
    notebook_7.open("notebooks/03_hunting_nan.ipynb")
    for name in ("setup", "guess", "live"):
        notebook_7.run_cell(name)
    cell = notebook_7.show("live")
    assert until(lambda: points(cell) > 200) and until(lambda: "finished" in status(cell))
    press(cell, "Run")  # again, by its button
    assert until(lambda: "running" in status(cell) or points(cell) < 200) and until(lambda: "finished" in status(cell))
    question = notebook_7.show("guess")
    # another test of this server may have answered it
    assert "What will you see in the last steps" in question.inner_text()
    notebook_7.picture("notebook_7_live")
    assert notebook_7.errors() == []
