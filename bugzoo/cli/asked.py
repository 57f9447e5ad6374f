"""What `assign` was asked for, checked before anything heavy is done."""

from pathlib import Path
from typing import Any

from bugzoo.errors import UserError


def check_asked(
    program: str | None, fault: list[str] | None, pool: bool, students: Path | None, variants: int | None
) -> None:
    """Raises UserError where it is not clear what is to be handed out, or to whom."""
    if pool and (program or fault):
        raise UserError(
            "--pool, --family, --level and --together say which faults are drawn from; --program and --fault are for one case."
        )
    if not pool and not (program and fault):
        raise UserError(
            "Say what is wrong: --program NAME and --fault SPEC, or --pool FILE.toml for a case for each student."
        )
    if students and variants:
        raise UserError("--students says who gets a notebook; --variants is for a class without a roster.")
    if pool and not students and variants is None:
        raise UserError("A pool is for variants: say for whom, --students ROSTER.csv, or how many, --variants 30.")


def check_dialect(dialect: str | None, dialects: int | None, people: bool) -> None:
    """Raises UserError where it is not clear whose dialects are meant."""
    if dialect is None:
        return
    if people:
        raise UserError("--dialect is for a text that is the same for everybody; variants have dialects of their own.")
    if not dialect.strip():
        raise UserError(f"--dialect {dialect!r} is empty; it is any number or word.")
    if dialects == 0:
        raise UserError("--dialect asks for other words, and --dialects 0 for none; leave one of them out.")


def credit(partial: str | None, weights: list[str] | None, given: Any) -> Any:
    """What parts earn, as the options say it above what the pool's file says; None where neither does. Raises UserError."""
    from bugzoo.instructor.credit import Credit

    if partial is None and not weights:
        return given
    found: dict[str, Any] = given.to_json() if given else {}
    if partial is not None:
        try:
            found["partial"] = [float(one) for one in partial.split(",")]
        except ValueError:
            raise UserError(
                f"--partial {partial!r} is not allowed; it is a share or several: 0.6, or 0.1,0.6."
            ) from None
    for text in weights or ():
        name, _, number = text.partition("=")
        try:
            found.setdefault("weights", {})[name] = float(number)
        except ValueError:
            raise UserError(
                f"--weight {text!r} is not allowed; it is a fault or family and a number: loss=2."
            ) from None
    return Credit.of(**found)
