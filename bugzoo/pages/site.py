"""`bugzoo docs build`: the pages as Markdown, built into a site by mkdocs."""

import io
import json
import logging
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from bugzoo import diagnostics, programs
from bugzoo import faults as catalogue
from bugzoo.contracts import contracts
from bugzoo.errors import UserError
from bugzoo.glossary import TERMS
from bugzoo.pages import contracts as contract_pages
from bugzoo.pages import faults, instruments, symptoms, terms
from bugzoo.pages import programs as program_pages
from bugzoo.pages.text import contract_page, fault_page, instrument_page, link, program_page, symptom_page
from bugzoo.proving import ledger

MISSING = "The site needs mkdocs with the theme Material, which is not installed. Type `pip install 'bugzoo[docs]'`."
HOME = """# bugzoo

How the training of a neural network goes wrong. Each fault is proved by real runs: broken beside its healthy twin, on
five seeds. Start from what you see.
"""
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
    found = catalogue.catalogue()
    drawn: dict[str, Path] = {}
    if pictures:
        from bugzoo.pages.curves import draw

        drawn = draw(list(found.values()), folder / "faults", progress)
    pages = {
        "index.md": _home(),
        "faults/index.md": faults.overview(),
        "symptoms/index.md": symptoms.overview(),
        "instruments/index.md": instruments.overview(),
        "programs/index.md": program_pages.overview(),
        contract_pages.OVERVIEW: contract_pages.overview(),
        "proved.md": ledger.matrix(),
        terms.PAGE: terms.page(),
    }
    pages |= {
        fault_page(one.id): faults.page(one, drawn[one.id].name if one.id in drawn else "") for one in found.values()
    }
    pages |= {symptom_page(name): symptoms.page(name, members) for name, members in symptoms.by_symptom().items()}
    pages |= {instrument_page(name): instruments.page(name) for name in diagnostics.names()}
    pages |= {program_page(name): program_pages.page(name) for name in programs.names()}
    pages |= {contract_page(key): contract_pages.page(one) for key, one in contracts().items()}
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return {"pages": len(pages), "pictures": len(drawn)}


def _home() -> str:
    here = "index.md"
    ways = [
        f"- {link('What do you see?', 'symptoms/index.md', here)} From a symptom to its possible causes.",
        f"- {link('All faults', 'faults/index.md', here)}, {len(catalogue.catalogue())} of them.",
        f"- {link('All instruments', 'instruments/index.md', here)}: they also work on your own training scripts.",
        f"- {link('What the libraries demand', contract_pages.OVERVIEW, here)} and do not check: {len(contracts())} calls.",
        f"- {link('All programs', 'programs/index.md', here)} that the faults break.",
        f"- {link('Glossary', terms.PAGE, here)}: {len(TERMS)} terms of the field, and where each is met.",
        f"- {link('What is proved', 'proved.md', here)}: every fault on every program that it fits.",
    ]
    return HOME + "\n" + "\n".join(ways) + "\n"


def _config(out: Path) -> dict[str, Any]:
    """Return the mkdocs configuration; the navigation lists families below faults, one page each."""
    families: dict[str, list[Any]] = {}
    for fault in catalogue.catalogue().values():
        families.setdefault(fault.family, []).append({fault.title: fault_page(fault.id)})
    nav = [
        {"bugzoo": "index.md"},
        {"What do you see?": ["symptoms/index.md", *(symptom_page(name) for name in symptoms.by_symptom())]},
        {"Faults": ["faults/index.md", *({family: members} for family, members in families.items())]},
        {"Instruments": ["instruments/index.md", *(instrument_page(name) for name in diagnostics.names())]},
        {"Contracts": [contract_pages.OVERVIEW, *map(contract_page, contracts())]},
        {"Programs": ["programs/index.md", *(program_page(name) for name in programs.names())]},
        {"Glossary": terms.PAGE},
        {"What is proved": "proved.md"},
    ]
    return CONFIG | {"docs_dir": "docs", "site_dir": str(out.absolute()), "nav": nav}


def _make(config: Path) -> None:
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    said = io.StringIO()
    listening = logging.StreamHandler(said)
    listening.setLevel(logging.WARNING)
    log = logging.getLogger("mkdocs")
    log.addHandler(listening)
    try:
        with redirect_stderr(io.StringIO()):
            make(load_config(str(config)))
    except Abort:
        raise UserError(f"The pages have dead links:\n{said.getvalue().strip()}") from None
    finally:
        log.removeHandler(listening)
