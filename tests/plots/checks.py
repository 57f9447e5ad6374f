"""What a reader would stumble over in a picture: colors outside the palette or with another meaning, text that is small,
covered or invisible on one of JupyterLab's two pages."""

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from bugzoo.plots import _palette, _style

PAGES = ("#ffffff", "#111111")
LEAST = 3.0
"""Contrast with either page, of text and of lines; WCAG asks that of large text and of graphics."""
ROLES = {color.lower(): words for color, words in _palette.ROLES.items()}
COLORS = {color.lower() for color in (*_palette.ROLES, _palette.INK, *_palette.SERIES)}
KINDS = (Line2D, Patch, Collection, Text)
WIDEST = _style.DPI * _style.WIDTH
"""Pixels of a picture's page: a wider picture is made smaller."""


def light(color: Any) -> float:
    """Relative luminance (WCAG 2.1) of a color such as "#112233" or (r, g, b)."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgba_array(color)[0][:3]
    ]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


def contrast(one: Any, other: Any) -> float:
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colors_of(artist: Any) -> list[str]:
    """The colors that an artist is drawn with, without those that are transparent."""
    if isinstance(artist, Line2D):
        marker = artist.get_marker() not in ("", "None", None)
        line = artist.get_linestyle() not in ("None", "", " ")
        full = marker and artist.get_fillstyle() != "none"
        values = (
            [artist.get_color()] * line
            + [artist.get_markeredgecolor()] * marker
            + [artist.get_markerfacecolor()] * full
        )
    elif isinstance(artist, Patch):
        values = [
            artist.get_facecolor(),
            *([artist.get_edgecolor()] if artist.get_linewidth() or artist.get_hatch() else []),
        ]
    elif isinstance(artist, Collection):
        values = (
            [*artist.get_facecolor(), *artist.get_edgecolor()]
            if artist.get_array() is None and artist.get_paths()
            else []
        )
    else:
        values = [artist.get_color()] if artist.get_text().strip() else []
    return [to_hex(color) for value in values for color in to_rgba_array(value) if color[3] > 0]


def complaints(figure: Any) -> list[str]:
    """Return a line for each thing that a reader would stumble over."""
    FigureCanvasAgg(figure).draw()
    lines = []
    for ax in figure.axes:
        shown = [artist for artist in ax.findobj(lambda one: isinstance(one, KINDS)) if drawn(artist, ax)]
        on_color = {text for text in ax.texts if ax.images and to_hex(text.get_color()) == _palette.ON_COLOR}
        for artist in set(shown) - on_color:
            strange = set(colors_of(artist)) - COLORS - ({_palette.ON_COLOR} if on_color else set())
            lines += [f"{artist} is {color}, which is not in the palette" for color in sorted(strange)]
        lines += [f"{line.get_label()!r} is {line.get_color()}" for line in ax.get_lines() if misnamed(line)]
        lines += covered(ax)
    texts = [text for ax in figure.axes for text in ax.findobj(Text) if text.get_text().strip() and drawn(text, ax)]
    texts += figure.texts
    scale = min(_style.DPI, WIDEST / figure.get_figwidth()) / 72
    for text in texts:
        if (size := text.get_fontsize() * scale) < _style.LEAST - 0.01:
            lines.append(f"{text.get_text()!r} is {size:.1f} px")
        if (
            min(contrast(text.get_color(), page) for page in PAGES) < LEAST
            and to_hex(text.get_color()) != _palette.ON_COLOR
        ):
            lines.append(f"{text.get_text()!r} in {text.get_color()} cannot be read on one of the pages")
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_rotation() in (0, 90)]
    lines += [f"{one!r} lies over {other!r}" for (one, a), (other, b) in combinations(boxes, 2) if overlap(a, b) > 2]
    return list(dict.fromkeys(lines))


def drawn(artist: Any, ax: Any) -> bool:
    """Whether an artist is seen: where axes are off, nothing of the axes themselves is."""
    own = (*ax.texts, *ax.lines, *ax.patches, *ax.collections)
    behind = artist in [one.patch for one in (ax, *ax.child_axes)]
    return bool(artist.get_visible() and not behind and (ax.axison or artist in own)) and not beyond(artist, ax)


def beyond(artist: Any, ax: Any) -> bool:
    """Whether it is a label of a tick outside of its axis, which matplotlib keeps and does not draw."""
    box = artist.get_window_extent() if isinstance(artist, Text) else None
    if box and artist in ax.get_yticklabels(which="both"):
        return not ax.bbox.y0 - 2 < (box.y0 + box.y1) / 2 < ax.bbox.y1 + 2
    return (
        bool(box and artist in ax.get_xticklabels(which="both"))
        and not ax.bbox.x0 - 2 < (box.x0 + box.x1) / 2 < ax.bbox.x1 + 2
    )


def misnamed(line: Any) -> bool:
    """Whether a line's color says another role than its name."""
    name, color = line.get_label(), to_hex(line.get_color())
    roles = [role for role, words in ROLES.items() if any(word in name for word in words)]
    if name.startswith("_") or color == _palette.INK:
        return False
    return color != roles[0] if roles else color in set(ROLES) - {_palette.THIS_RUN.lower()}


def covered(ax: Any) -> list[str]:
    """Return the lines that run under a legend."""
    box = ax.get_legend() and ax.get_legend().get_window_extent()
    if not box:
        return []
    names = []
    for line in ax.get_lines():
        points = line.get_transform().transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        points = points[np.isfinite(points).all(axis=1)]
        dense = np.array([np.interp(np.linspace(0, len(points) - 1, 400), range(len(points)), part) for part in points.T]).T \
            if len(points) else points  # fmt: skip
        inside = dense[[bool(ax.bbox.contains(*point)) for point in dense]] if len(dense) else dense
        names += [f"the legend covers {line.get_label()!r}"] if any(box.contains(*point) for point in inside) else []
    return names


def overlap(one: Any, other: Any) -> float:
    """How deep two boxes are in each other, in pixels."""
    return min(min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0))
