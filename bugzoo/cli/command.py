"""The class of a command: it reports an option that is given twice, and its help fits narrow windows."""

import textwrap
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from bugzoo.errors import UserError

NARROW = 64
"""Columns. In a narrower window the help is plain lines, because its tables would be one word wide."""


class Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param in order:
            name, times = param.opts[0], order.count(param)
            only_once = name.startswith("-") and not param.multiple and not getattr(param, "is_flag", False)
            if only_once and times > 1:
                raise UserError(f"{name} is given {times} times; give it once.\nSee `{ctx.command_path} --help`.")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from bugzoo.cli.output import console

        out = console()
        if out.width >= NARROW:
            super().format_help(ctx, formatter)
            return
        from rich.markdown import Markdown

        out.print(f"Usage: {ctx.command_path} {' '.join(self.collect_usage_pieces(ctx))}", markup=False)
        out.print(Markdown(f"\n{self.help or ''}"))
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record:
                out.print(f"\n{record[0]}", markup=False)
                out.print(textwrap.fill(record[1], max(out.width - 4, 16), break_on_hyphens=False), markup=False)


class App(typer.Typer):
    """A typer app whose commands are of class `Command`."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        return super().command(name, cls=Command, **options)
