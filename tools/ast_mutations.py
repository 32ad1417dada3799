"""Mutations: small changes of a syntax tree that a test, or the check of an exercise, should notice.

`tools/mutants.py` plants them in the package, `tests/checks/mutations.py` in the solutions of the exercises.
"""

import ast
import builtins
import copy
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Edit = Callable[[], ast.AST]  # makes what takes the place of a node
Skip = Callable[[ast.AST], bool]

EXCHANGED: tuple[tuple[type[ast.AST], ...], ...] = (
    (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult),
    (ast.FloorDiv, ast.Mod, ast.Mult),
    (ast.BitAnd, ast.BitOr, ast.BitXor),
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.And, ast.Or),
)
RELATED = (
    ("max", "min", "sum", "mean", "argmax", "prod"),
    ("amax", "amin"),
    ("exp", "exp2", "log", "sqrt", "square", "abs", "tanh"),
    ("relu", "tanh", "sigmoid"),
    ("log2", "log", "log10", "log1p"),
    ("var", "std"),
    ("softmax", "log_softmax", "sigmoid"),
    ("tril", "triu"),
    ("ones", "zeros"),
    ("any", "all"),
    ("sin", "cos"),
    ("shape", "size"),
)
CHANGED = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.AugAssign, ast.Constant, ast.Name),
    *(ast.Attribute, ast.Call, ast.Expr, ast.Tuple, ast.Slice, ast.If, ast.IfExp),
)
UNCHANGED_FIELDS = {"annotation", "returns", "decorator_list"}  # they mean nothing to a test


@dataclass(frozen=True)
class Site:
    """A node of a tree.

    Args:
        node: the node.
        function: the qualified name of what it stands in, "Trainer.save"; empty outside of all functions.
        names: parameters and variables there, which may take each other's place.
    """

    node: ast.AST
    function: str
    names: tuple[str, ...]


def mutate(
    tree: ast.Module, rng: random.Random, skip: Skip = lambda node: False
) -> tuple[ast.Module, Site]:
    """Make one random change: first a kind of node is drawn, then one of that kind, then its change.

    So a comparison is changed as often as a name, though there are many more names.

    Args:
        tree: the code; used up by this.
        rng: draws.
        skip: True for a node that stays as it is, with all below it.

    Returns:
        The changed code, and where it was changed.

    Raises:
        ValueError: if there is nothing to change.
    """
    kinds: dict[str, list[Site]] = defaultdict(list)
    for site in sites(tree, skip):
        kinds[type(site.node).__name__].append(site)
    for _ in range(10_000):  # most nodes of some kinds can't be changed
        site = rng.choice(kinds[rng.choice(sorted(kinds))])
        if edits := _edits(site.node, site.names):
            return replaced(tree, site.node, rng.choice(edits)()), site
    raise ValueError("there is nothing to change")


def replaced(tree: ast.Module, node: ast.AST, new: ast.AST) -> ast.Module:
    """Put `new` in the place of a node; the tree itself is used up."""

    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            return new if visited is node else self.generic_visit(visited)

    return ast.parse(ast.unparse(ast.fix_missing_locations(Replace().visit(tree))))


def sites(
    tree: ast.AST, skip: Skip = lambda node: False, function: str = "", names: tuple[str, ...] = ()
) -> Iterator[Site]:
    """Yield the nodes below a node, in the order of the code.

    Args:
        tree: the node.
        skip: True for a node that stays as it is, with all below it.
        function: the qualified name of what the node stands in.
        names: parameters and variables there, which may take each other's place.
    """
    for field, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or field in UNCHANGED_FIELDS or skip(node):
                continue
            inner, known = function, names
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                inner = f"{function}.{node.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef) and not names:
                known = local_names(node)
            if isinstance(node, CHANGED):
                yield Site(node, inner, known)
            yield from sites(node, skip, inner, known)


def local_names(tree: ast.AST) -> tuple[str, ...]:
    """Return the parameters and variables of a function, sorted."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _loaded(n)}
    return tuple(sorted(stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}))


def _loaded(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _changed(node: ast.AST, **fields: object) -> Edit:
    """Return an edit that sets fields of a copy of the node."""

    def make() -> ast.AST:
        new = copy.copy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return new

    return make


def _constant(value: object) -> ast.Constant:
    return ast.Constant(value)  # type: ignore[arg-type]


def _others(operator: ast.AST) -> list[ast.AST]:
    """Return the operators that may take the place of one."""
    found = next((group for group in EXCHANGED if type(operator) in group), ())
    return [other() for other in found if other is not type(operator)]


def _related(name: str) -> list[str]:
    return sorted({other for group in RELATED if name in group for other in group} - {name})


def _edits(node: ast.AST, names: tuple[str, ...]) -> list[Edit]:
    """Return what may take the place of a node."""
    match node:
        case ast.BinOp():
            swapped = _changed(node, left=node.right, right=node.left)
            alone = [lambda: node.left, lambda: node.right]
            return [*(_changed(node, op=op) for op in _others(node.op)), swapped, *alone]
        case ast.UnaryOp():
            return [lambda: node.operand]
        case ast.BoolOp():
            shorter = [[v for v in node.values if v is not left] for left in node.values]
            dropped = [_changed(node, values=values) for values in shorter if len(values) > 1]
            return [*(_changed(node, op=op) for op in _others(node.op)), *dropped]
        case ast.Compare():
            return [_changed(node, ops=[op, *node.ops[1:]]) for op in _others(node.ops[0])]
        case ast.Constant():
            return [_changed(node, value=value) for value in _other_constants(node.value)]
        case ast.Attribute() if _loaded(node):
            return [_changed(node, attr=name) for name in _related(node.attr)]
        case ast.Call():
            return _call_edits(node, names)
        case ast.Name() if _loaded(node) and node.id in names:
            others = [_changed(node, id=name) for name in names if name != node.id]
            return [*others, lambda: ast.UnaryOp(ast.USub(), node)]
        case ast.Name() if _loaded(node):
            found = [name for name in _related(node.id) if hasattr(builtins, name)]
            return [_changed(node, id=name) for name in found]
        case ast.Tuple() if len(node.elts) > 1 and _loaded(node):
            return [_changed(node, elts=[*node.elts[1:], node.elts[0]])]
        case ast.Slice():
            return _slice_edits(node)
        case ast.If() | ast.IfExp():
            tests = (ast.UnaryOp(ast.Not(), node.test), _constant(True), _constant(False))
            return [_changed(node, test=test) for test in tests]
        case ast.AugAssign():
            return [*(_changed(node, op=op) for op in _others(node.op)), ast.Pass]
        case ast.Expr(value=ast.Call()):
            return [ast.Pass]
        case _:
            return []


def _call_edits(node: ast.Call, names: tuple[str, ...]) -> list[Edit]:
    """Return edits of a call: arguments left out or exchanged, or the call left out."""
    edits = [
        _changed(node, keywords=[k for k in node.keywords if k is not left])
        for left in node.keywords
    ]
    if len(node.args) > 1:
        edits.append(_changed(node, args=[node.args[1], node.args[0], *node.args[2:]]))
        edits.append(_changed(node, args=node.args[:-1]))
    if node.args and not isinstance(node.args[0], ast.Starred):
        edits.append(lambda: node.args[0])
    if isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if not isinstance(owner, ast.Name) or owner.id in names:  # `torch` alone means nothing
            edits.append(lambda: owner)
    return edits


def _slice_edits(node: ast.Slice) -> list[Edit]:
    """Return slices that begin or end elsewhere, but for constants, which have edits of their own."""
    edits: list[Edit] = []
    for side in ("lower", "upper"):
        bound = getattr(node, side)
        if bound is None:
            continue
        edits.append(_changed(node, **{side: None}))
        if not isinstance(bound, ast.Constant):
            for operator in (ast.Add(), ast.Sub()):
                edits.append(_changed(node, **{side: ast.BinOp(bound, operator, _constant(1))}))
    return edits


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [v for v in sorted({value + 1, value - 1, -value, value + 2}) if v != value]
    if isinstance(value, float):
        return [value * 2, value / 2, -value, value + 1] if value else [1.0, -1.0]
    return []
