"""Ten scripts that crash, and for each the facts that somebody needs to repair it, as patterns of a text that tells them.

Scripts and facts were chosen by those who wrote the explanations.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
FACTS = {
    "deep_linear": {
        "line": r"line 14\b", "module": r"blocks\.2\.up", "both shapes": r"32x64 and 48x128|\(32, 64\).*48",
        "where it came from": r"blocks\.1\.down returned",
    },
    "flatten_conv": {
        "line": r"line 20\b", "module": r"module 6\b", "both shapes": r"16x400 and 576x10|\(16, 400\).*576",
        "where it came from": r"module 4 returned \(16, 16, 5, 5\)",
    },
    "last_batch": {
        "line": r"line 15\b", "module": r"\blstm is", "both shapes": r"\(1, 4, 32\), got \[1, 32, 32\]",
        "the last batch is smaller": r"earlier batches had 32",
    },
    "inplace": {
        "what was changed": r"\[8, 10\]|\(8, 10\)", "line that changed it": r"line 16|h \+= 1",
        "line that needs it": r"line 1[45]\b",
    },
    "step_between": {
        "what was changed": r"\[4, 1\]|\(1, 4\)", "that it is a parameter": r"is a parameter",
        "who changed it": r"optimizer\.step",
    },
    "twice": {"line": r"line 14\b", "what is carried over": r"\bhidden,", "from where": r"step before"},
    "no_graph": {"line": r"line 14\b", "why": r"none of the model's 4 parameters"},
    "labels": {"line": r"line 11\b", "the label": r"Target 4", "which are there": r"2 to 4", "which are allowed": r"0 to 3"},
    "dtype": {"line": r"line 14\b", "both types": r"Double and Float", "module": r"module 0\b", "where it came from": r"NumPy"},
    "device": {"line": r"line 14\b", "which tensor": r"self\.scale is .* on meta", "the other's": r"\bx is \(8, 10\)"},
}  # fmt: skip


def source(name: str) -> str:
    """The script's text."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")
