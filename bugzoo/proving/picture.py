"""The verify matrix as a picture: which instrument fires on which fault, and which fault shows nothing."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bugzoo.files import write_atomic


def draw(report: Mapping[str, Any], path: str | Path) -> None:
    """Draw `Report.to_json()` into a PNG or SVG: rows fault x program, columns instruments.

    Dark: the instrument fires on the first seed.
    A cross in the first column marks a cell that is not proved; a dash, one that this machine could not run.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cells = report["cells"]
    columns = sorted({name for cell in cells for name in cell["fired"]})
    rows = [f"{cell['fault']}  ·  {cell['program']}" for cell in cells]
    figure = Figure(figsize=(4.2 + 0.42 * len(columns), 1.6 + 0.24 * len(rows)), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    shade = [[float(name in cell["fired"]) for name in columns] for cell in cells]
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for y, cell in enumerate(cells):
        mark = "–" if cell["skipped"] else "✗" if cell["problems"] else "✓"
        axes.text(-0.75, y, mark, ha="center", va="center", fontsize=9)
    axes.set_xticks(range(len(columns)), columns, rotation=55, ha="left", rotation_mode="anchor", fontsize=8)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(axis="y", pad=18, length=0)
    axes.set_xlim(-1.2, len(columns) - 0.5)
    axes.set_xlabel(
        "dark: the instrument fires on the broken run of the first seed (on healthy runs: none)", fontsize=8
    )
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format=Path(path).suffix.lstrip(".") or "png", dpi=150)
    write_atomic(path, image.getvalue())
