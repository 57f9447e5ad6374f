"""Text, Markdown and HTML from jinja2 templates. A room keeps its templates in its folder `templates`."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


@cache
def environment(package: str) -> Environment:
    """Return the environment of a package's templates. In `.html.j2` each value is escaped; an unknown name raises."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def blocks(package: str, template: str, **values: Any) -> dict[str, str]:
    """Return name -> filled text of each block of a template, without line breaks at its ends."""
    file = environment(package).get_template(template)
    context = file.new_context(values)
    return {name: "".join(block(context)).strip("\n") for name, block in file.blocks.items()}


def render(package: str, template: str, **values: Any) -> str:
    """Return a filled template of a package."""
    return environment(package).get_template(template).render(values)
