"""Help for errors that beginners' code raises: a pattern of the message -> one sentence. The first that matches counts.

A pattern is searched in the error's type and message, a line break, and the line of the reader's code that raised. A judge
adds patterns of its task as `HELP`, in the same form.
"""

import re
from collections.abc import Mapping

_VALUES = "`in` compares tensors by value. Compare with `is`, as in `any(p is q for q in tensors)`."
_IN = r".*\n.*(\bin\b|\.(remove|index|count)\()"
"""The line that raised asks a list for an element."""
HELP = {
    rf"The size of tensor a .* must match{_IN}": _VALUES,
    rf"Boolean value of Tensor with more than one value{_IN}": _VALUES,
    r"The size of tensor a .* must match": "The shapes of two tensors do not fit. Print `.shape` of both.",
    r"mat1 and mat2 shapes": "The input's last axis is not the layer's `in_features`. Print `.shape` of the input.",
    r"Boolean value of Tensor with more": "`if`, `and` and `or` need one truth value. Write `.any()` or `.all()`.",
    r"index out of range in self": "An embedding got an index that does not exist: the vocabulary has fewer entries. "
    "Use `%` or `clamp`.",
    r"leaf Variable that requires grad is being used": "Change a weight in place only inside `with torch.no_grad():`.",
    r"call numpy\(\) on Tensor that requires": "NumPy records no gradients. Write `.detach()` before `.numpy()`.",
    r"Only Tensors created explicitly": "`deepcopy` cannot copy the result of an operation. Write `x.detach().clone()`.",
    r"element 0 of tensors does not require": "The loss has no graph. Look for `detach()`, `.item()` and `no_grad()`.",
    r"through the graph a second time": "backward() frees the graph. Compute the loss again before each backward().",
    r"^(Attribute|Type)Error: .*NoneType": "A value here is None. A function without `return` gives None, and `.grad` "
    "is None before backward().",
    r"^NameError": "Check the spelling of this name. Or run the cell that defines or imports it.",
    r"^TypeError: .*(positional|keyword) argument": "The call has other arguments than the function. Keep the first "
    "line of the task.",
}
"""Pattern -> help."""


def help_for(error: Exception, line: str = "", more: Mapping[str, str] | None = None) -> str:
    """Return the help for an error that `line` raised; "" without any. `more`: patterns to try first."""
    line = re.sub(r"\bfor .+? in ", "", line)
    text, pairs = f"{type(error).__name__}: {error}\n{line}", [*(more or {}).items(), *HELP.items()]
    return next((sentence for pattern, sentence in pairs if re.search(pattern, text)), "")
