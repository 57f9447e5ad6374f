"""The picture in the README, taken by `make picture`: an exercise in JupyterLab after its first run, with the form below."""

import nbformat
import pytest

from tests.browser.conftest import ROOT

pytestmark = [pytest.mark.browser]
EXERCISE = "10_restless_loss"
KEPT = ("title", "setup", "look", "hypothesis")
"""Its first cells, without what stands between the plot and the form."""


def test_take_the_picture(lab, server) -> None:
    whole = nbformat.read(ROOT / "exercises" / f"{EXERCISE}.ipynb", as_version=4)
    whole.cells = [one for one in whole.cells if one.id in KEPT]
    nbformat.write(whole, server.folder / "exercises" / "picture.ipynb")
    lab.open("exercises/picture.ipynb")
    lab.page.set_viewport_size({"width": 1100, "height": 1080})
    lab.theme("JupyterLab Light")
    lab.command("application:toggle-left-area")
    lab.run_all()
    lab.until(
        "() => document.querySelector('.jp-Notebook').innerText.includes('finished after')", 90, "the run is over"
    )
    lab.show("look")
    lab.page.screenshot(path=ROOT / "notebooks" / "pictures" / "notebook.png")
