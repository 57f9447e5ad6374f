"""`bugzoo docs build`: the pages as Markdown, built into a site by mkdocs."""

import io
import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from bugzoo import course, diagnostics, programs
from bugzoo import faults as catalogue
from bugzoo.contracts import areas, contracts
from bugzoo.errors import UserError
from bugzoo.glossary import TERMS, TITLE
from bugzoo.pages import entries
from bugzoo.pages.text import fill
from bugzoo.proving import ledger
from bugzoo.scenario import fits

MISSING = "The site needs mkdocs with the theme Material, which is not installed. Type `pip install 'bugzoo[docs]'`."
CONFIG: dict[str, Any] = {
    "site_name": "bugzoo",
    "site_description": "How the training of neural networks goes wrong, proved by real runs",
    "use_directory_urls": False,  # works from a folder, without a server
    "strict": True,
    "validation": {"links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn"}},
    "theme": {
        "name": "material",
        "font": False,  # nothing is loaded from the network
        "features": ["navigation.indexes", "navigation.prune", "content.code.copy", "search.suggest", "toc.integrate"],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {scheme})",
                "scheme": theme,
                "toggle": {"icon": icon, "name": f"Go to the {other} page"},
            }
            for scheme, theme, icon, other in (
                ("light", "default", "material/weather-night", "dark"),
                ("dark", "slate", "material/weather-sunny", "light"),
            )
        ],
    },
    "plugins": ["material/search"],  # "offline" would load a script from the network
    "markdown_extensions": [
        "admonition",
        "pymdownx.details",
        "pymdownx.superfences",
        "tables",
        {"toc": {"permalink": True}},
    ],
}


def build(out: Path, pictures: bool = True, progress: Callable[[int, int], None] | None = None) -> dict[str, int]:
    """Build the site in `out`; return {"pages", "pictures", "bytes"}. Raises UserError without mkdocs or on a dead link."""
    try:
        import material  # noqa: F401  the theme
        import mkdocs  # noqa: F401
    except ImportError:
        raise UserError(MISSING) from None
    with tempfile.TemporaryDirectory(prefix="bugzoo-docs-") as scratch:
        folder = Path(scratch) / "docs"
        written = write(folder, pictures, progress)
        (Path(scratch) / "mkdocs.yml").write_text(json.dumps(_config(out)), encoding="utf-8")  # JSON is YAML
        _make(Path(scratch) / "mkdocs.yml")
    files = [file for file in out.rglob("*") if file.is_file()]
    return written | {"bytes": sum(file.stat().st_size for file in files)}


def write(folder: Path, pictures: bool = True, progress: Callable[[int, int], None] | None = None) -> dict[str, int]:
    """Write the pages as Markdown below `folder`; return {"pages", "pictures"}."""
    curves: dict[str, Path] = {}
    if pictures:
        from bugzoo.pages.curves import draw

        curves = draw(list(catalogue.catalogue().values()), folder / "faults", progress)
    pages = markdown({fault: file.name for fault, file in curves.items()})
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return {"pages": len(pages), "pictures": len(curves)}


def markdown(pictures: Mapping[str, str]) -> dict[str, str]:
    """Return path below the site's root -> page. `pictures`: fault -> file name of its curves beside the page."""
    faults, groups = catalogue.catalogue(), entries.by_symptom()
    of_programs = [entries.program(name) for name in programs.names()]
    of_instruments = [entries.instrument(name) for name in diagnostics.names()]
    terms = [(term, entries.of_term(term.name)) for term in TERMS]
    counts = {"faults": len(faults), "contracts": len(contracts()), "terms": len(TERMS)}
    pages: list[tuple[str, str, dict[str, Any]]] = [
        ("home", "index", counts),
        ("faults", "faults/index", {"faults": faults.values(), "fits": fits}),
        ("symptoms", "symptoms/index", {"groups": groups}),
        ("instruments", "instruments/index", {"instruments": of_instruments}),
        ("programs", "programs/index", {"programs": of_programs}),
        ("contracts", "contracts/index", {"areas": areas()}),
        ("glossary", "glossary", {"title": TITLE, "terms": terms, "lessons": course.numbers()}),
        *(("program", f"programs/{values['name']}", values) for values in of_programs),
        *(("instrument", f"instruments/{values['name']}", values) for values in of_instruments),
        *(("contract", key, {"contract": contract}) for key, contract in contracts().items()),
        *(("symptom", f"symptoms/{symptom}", entries.symptom(symptom, group)) for symptom, group in groups.items()),
        *(("fault", f"faults/{key}", entries.fault(fault, pictures.get(key, ""))) for key, fault in faults.items()),
    ]
    texts = {f"{place}.md": fill(f"{name}.md.j2", here=f"{place}.md", **values) for name, place, values in pages}
    return texts | {"proved.md": ledger.matrix()}


def _config(out: Path) -> dict[str, Any]:
    """Return the mkdocs configuration; the navigation lists families below faults, one page each."""
    families: dict[str, list[Any]] = {}
    for fault in catalogue.catalogue().values():
        families.setdefault(fault.family, []).append({fault.title: f"faults/{fault.id}.md"})
    nav = [
        {"bugzoo": "index.md"},
        {"What do you see?": ["symptoms/index.md", *(f"symptoms/{name}.md" for name in entries.by_symptom())]},
        {"Faults": ["faults/index.md", *({family: members} for family, members in families.items())]},
        {"Instruments": ["instruments/index.md", *(f"instruments/{name}.md" for name in diagnostics.names())]},
        {"Contracts": ["contracts/index.md", *(f"{name}.md" for name in contracts())]},
        {"Programs": ["programs/index.md", *(f"programs/{name}.md" for name in programs.names())]},
        {"Glossary": "glossary.md"},
        {"What is proved": "proved.md"},
    ]
    return CONFIG | {"docs_dir": "docs", "site_dir": str(out.absolute()), "nav": nav}


def _make(config: Path) -> None:
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    messages = io.StringIO()
    listening = logging.StreamHandler(messages)
    listening.setLevel(logging.WARNING)
    log = logging.getLogger("mkdocs")
    log.addHandler(listening)
    try:
        with redirect_stderr(io.StringIO()):
            make(load_config(str(config)))
    except Abort:
        raise UserError(f"The pages have dead links:\n{messages.getvalue().strip()}") from None
    finally:
        log.removeHandler(listening)
