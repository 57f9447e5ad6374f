"""The place in a script where a suspected cause most likely is: a look at the syntax tree, after the run was measured.

No function here suspects anything by itself. A suspect that the instruments measured gets a line if the syntax tree has
exactly the kind of statement for such a cause, else none. Each function returns that node or None. The table
of causes says which function belongs to which cause.
"""

import ast
from collections.abc import Iterator
from typing import Any

from bugzoo.diagnostics._source import Source, about_itself, above, function, loops, name_of, targets
from bugzoo.syntax import last_name


def double_softmax(source: Source) -> Any:
    """The softmax itself: in the statement of the loss, else the only one outside no_grad blocks."""
    return _last_layer(source, "softmax", "Softmax")


def _last_layer(source: Source, *names: str) -> Any:
    loss = source.loss()
    if loss is not None and source.calls(*names, within=loss):
        return loss
    used = [n for n in source.calls(*names) if not _evaluation(n)]
    if len(used) == 1:
        return used[0]
    first = [n for n in used if _first_argument(n)]  # criterion(softmax(z), y)
    return first[0] if len(first) == 1 else loss


def _first_argument(node: ast.AST) -> bool:
    """Is the call (part of) the first of several arguments of another call?"""
    child = node
    for parent in above(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Call) and len(parent.args) > 1 and parent.args[0] is child:
            return True
        child = parent
    return False


def double_sigmoid(source: Source) -> Any:
    return _last_layer(source, "sigmoid", "Sigmoid", "sigmoid_")


def _evaluation(node: ast.AST) -> bool:
    return any(_without_gradients(n) for n in above(node))


def _without_gradients(node: ast.AST) -> bool:
    """A `with torch.no_grad()` block, or a function decorated with it."""
    heads = node.items if isinstance(node, ast.With) else getattr(node, "decorator_list", [])
    return any("no_grad" in ast.dump(head) or "inference_mode" in ast.dump(head) for head in heads)


def frozen(source: Source) -> Any:
    for node in source.statements(ast.Assign):
        if any(last_name(t) == "requires_grad" for t in node.targets) and getattr(node.value, "value", None) is False:
            return node
    for call in source.calls("requires_grad_"):
        if call.args and getattr(call.args[0], "value", None) is False:
            return call
    return None


def no_grad(source: Source) -> Any:
    """The first block or function that runs without gradients and calls something."""
    for kind in (ast.With, ast.FunctionDef):
        for node in source.statements(kind):
            if _without_gradients(node):
                return node
    return None


def kept(source: Source) -> Any:
    """Inside a loop: `something.append(loss)`, `total += loss`, or a list of outputs."""
    losses = [source.loss(call) for call in source.calls("backward") if isinstance(call.func, ast.Attribute)]
    names = {name_of(t) for loss in losses if isinstance(loss, ast.Assign) for t in targets(loss)}
    weak = None
    for call in source.calls("append"):
        if call.args and name_of(call.args[0]):
            if name_of(call.args[0]) in names:
                return call
            weak = weak or (call if loops(call) else None)
    for node in source.statements(ast.AugAssign, ast.Assign):
        if (
            loops(node)
            and any(isinstance(n, ast.Name) and n.id in names for n in _plain(node.value))
            and node not in losses
        ):
            adds = isinstance(node, ast.Assign) and about_itself(node, name_of(node.targets[0]))  # total = total + loss
            if isinstance(node, ast.AugAssign) or isinstance(node.targets[0], ast.Subscript) or adds:
                return node
    return weak


def _plain(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of an expression that are not inside item(), detach() or float()."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("item", "detach", "float", "tolist", "cpu"):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _plain(child)


def optimizer(source: Source) -> Any:
    """Where the optimizer is created: a call with parameters and a learning rate."""
    for node in source.statements(ast.Call):
        if any(k.arg == "lr" for k in node.keywords) and node.args:
            return node
    calls = source.calls("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS", "NAdam", "RAdam", "Adamax")
    return calls[0] if calls else None


def rate(source: Source) -> Any:
    """Where the learning rate is set: a name that is assigned once, or the line of the optimizer."""
    node = optimizer(source)
    value = next((k.value for k in getattr(node, "keywords", []) if k.arg == "lr"), None)
    if value is None and len(getattr(node, "args", [])) > 1:
        value = node.args[1]
    name = last_name(value) if value is not None else ""
    nodes: list[Any] = [n for n in source.statements(ast.Assign) if any(last_name(t) == name for t in targets(n))]
    nodes += [n for n in source.statements(ast.AnnAssign) if last_name(n.target) == name and n.value is not None]
    if isinstance(value, ast.Attribute):  # args.lr, cfg.lr
        nodes += [n for n in source.calls("add_argument") if any(_flag(a) == name for a in n.args)]
    nodes = [n for n in nodes if not isinstance(n, ast.Assign) or isinstance(n.value, ast.Constant | ast.BinOp)]
    return nodes[0] if name and len(nodes) == 1 else node


def _flag(node: ast.AST) -> str:
    text = getattr(node, "value", "")
    return text.lstrip("-").replace("-", "_") if isinstance(text, str) else ""


_MIXERS = ("randperm", "permutation", "shuffle", "roll", "flip", "sort")


def mixed(source: Source) -> Any:
    """Inputs and labels paired by different indices, `y = y[torch.randperm(...)]`, or one array reordered by itself."""
    for call in source.calls("TensorDataset", "zip"):
        indices = {ast.dump(arg.slice) for arg in call.args if isinstance(arg, ast.Subscript)}
        if len(indices) > 1:
            return call
    nodes: list[Any] = []
    for node in source.statements(ast.Assign):
        index = node.value.slice if isinstance(node.value, ast.Subscript) else None
        if index is not None and source.calls(*_MIXERS, within=index):
            nodes.append(node)
    if not nodes:
        nodes = [n for n in source.calls(*_MIXERS) if last_name(n.func) != "randperm" and not loops(n)]
    together = len({function(n) for n in nodes}) == 1  # shuffle(x) and shuffle(y), one after the other
    return max(nodes, key=lambda n: n.lineno) if together and len(nodes) <= 2 else None


def attention(source: Source) -> Any:
    """The first mask on the output of a softmax, in the same function."""
    for call in source.calls("softmax"):
        statement = next((n for n in (call, *above(call)) if isinstance(n, ast.stmt)), None)
        home = function(call)
        if isinstance(statement, ast.Assign) and home is not None:
            if any(_masks(n) and call in ast.walk(n) for n in ast.walk(statement.value)):
                return statement  # softmax(...) * mask in one line
            names = {name_of(t) for t in targets(statement)}
            for node in ast.walk(home):
                later = isinstance(node, ast.stmt) and node.lineno >= statement.lineno and node is not statement
                masks = later and (
                    "masked_fill" in ast.dump(node) or "Mult()" in ast.dump(node) or "where" in ast.dump(node)
                )
                if masks and any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node)):
                    return node
    calls = [n for n in source.calls("softmax") if function(n) is not None]
    return calls[0] if calls else None


def _masks(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult)
    return isinstance(node, ast.Call) and last_name(node.func) in ("masked_fill", "where", "mul")


def softmax_in_model(source: Source) -> Any:
    calls = [n for n in source.calls("softmax", "scaled_dot_product_attention") if function(n) is not None]
    return calls[0] if calls else None


def in_place(source: Source) -> Any:
    """The only statement in a forward() that changes a tensor in place."""
    nodes = []
    for home in source.statements(ast.FunctionDef):
        if home.name != "forward":
            continue
        for node in ast.walk(home):
            inplace = (
                isinstance(node, ast.Call)
                and last_name(node.func).endswith("_")
                and not last_name(node.func).startswith("_")
            )
            written = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
            if isinstance(node, ast.AugAssign) or inplace or written:
                nodes.append(node)
    return nodes[0] if nodes and len({n.lineno for n in nodes}) == 1 else None


def workers(source: Source) -> Any:
    calls = source.calls("DataLoader")
    return calls[0] if calls else None


def left_out(source: Source) -> Any:
    """The only `continue` or `break` before backward() in the training loop."""
    backward = source.backward()
    around = loops(backward) if backward is not None else []
    if backward is None or not around:
        return None
    ways = [n for n in source.statements(ast.Continue, ast.Break) if loops(n)[:1] == around[:1]]
    ways = [n for n in ways if n.lineno < backward.lineno]
    return ways[0] if len(ways) == 1 else None
