"""Each view of a healthy and of a broken run, as text and as pictures on a light and on a dark page.

    python -m tests.benchmarks.view_pictures FOLDER [VIEW ...] [--program mlp] [--fault loop/stale_gradients] [--size tiny]

Writes FOLDER/VIEW-PROGRAM-light.png and the like, the healthy run to the left, the broken one to the right.
"""

import argparse
import io
from pathlib import Path
from typing import Any

from PIL import Image

from bugzoo import views
from bugzoo.grading.looks import measured
from bugzoo.running import Reading
from bugzoo.scenario import Scenario
from bugzoo.views import show

PAGES = {"light": "#ffffff", "dark": "#111111"}
"""JupyterLab's two pages."""


def png(name: str, reading: Reading) -> Any:
    """Return the view's picture with a transparent page, None without one."""
    figure = show.figure(name, reading)
    if figure is None:
        return None
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, transparent=True)
    return Image.open(buffer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("views", nargs="*")
    parser.add_argument("--program", default="mlp")
    parser.add_argument("--fault", default="")
    parser.add_argument("--size", default="tiny")
    options = parser.parse_args()
    names = options.views or views.names()
    runs = []
    for faults in [(), (options.fault,)] if options.fault else [()]:
        scenario = Scenario(options.program, faults, size=options.size)
        runs.append(measured(names, scenario.source, scenario.ranks))
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for readings in runs:
            print(show.text(name, readings[name]) + "\n")
            outside = [row.label for row in views.outside(name, readings[name].numbers)]
            print(f"  outside: {', '.join(outside) or 'none'}\n")
        pictures = [picture for readings in runs if (picture := png(name, readings[name]))]
        for page, colour in PAGES.items():
            size = (
                sum(picture.width for picture in pictures) or 1,
                max((picture.height for picture in pictures), default=1),
            )
            sheet = Image.new("RGB", size, colour)
            left = 0
            for picture in pictures:
                sheet.paste(picture, (left, 0), picture)
                left += picture.width
            sheet.save(options.folder / f"{name}-{options.program}-{page}.png")


if __name__ == "__main__":
    main()
