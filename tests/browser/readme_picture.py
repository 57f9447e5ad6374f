"""The picture in the README, taken by `make picture`: an exercise in JupyterLab after its first run, with the form below."""

import io

import nbformat
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.browser.conftest import ROOT

pytestmark = [pytest.mark.browser]
EXERCISE = "10_restless_loss"
PICTURE = ROOT / "notebooks" / "pictures" / "notebook.png"
KEPT = ("title", "setup", "look", "hypothesis")
"""Its first cells, without what stands between the plot and the form."""


def test_take_the_picture(lab, server) -> None:
    file = server.folder / "exercises" / f"{EXERCISE}.ipynb"
    notebook = nbformat.read(file, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id in KEPT]
    nbformat.write(notebook, file)
    lab.page.set_viewport_size({"width": 960, "height": 1240})
    lab.open(f"exercises/{EXERCISE}.ipynb")
    lab.theme("JupyterLab Light")
    lab.command("application:toggle-left-area")
    lab.run_all()
    lab.until(
        "() => document.querySelector('.jp-Notebook').innerText.includes('finished after')", 90, "the run is over"
    )
    assert lab.errors() == []
    lab.show("title")
    # what it shows, for the test that compares it with the exercises
    metadata = PngInfo()
    metadata.add_text("exercise", EXERCISE)
    metadata.add_text("title", notebook.cells[0].source.partition("\n")[0])
    Image.open(io.BytesIO(lab.page.screenshot())).convert("RGB").save(PICTURE, pnginfo=metadata, optimize=True)
