"""Let autodoc read docstrings that are written in Markdown's habits.

The package's docstrings say `name` for code and $x$ for mathematics, as the notebooks do. Sphinx
reads docstrings as reStructuredText, where both mean something else. This translates the two,
paragraph by paragraph, and leaves doctests as they are. It runs before napoleon, which reads the
sections Args, Returns and Raises.

A command of a typer app gets its usage and the help of its options, read from the app as `--help` reads it.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import typer
from docutils import nodes
from numpy.typing import ArrayLike
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import rst
from sphinx.util.inspect import signature as signature_of
from sphinx.util.inspect import stringify_signature
from sphinx.util.typing import stringify_annotation

# Text that is already marked as reStructuredText is matched first, and kept.
MARKED = re.compile(
    r"(?P<kept>``[^`]+``|:[\w:+-]+:`[^`]+`|`[^`<>]+ <[^`]+>`_)"
    r"|`(?P<code>[^`]+)`"
    r"|(?<!\$)\$(?P<math>[^$\s](?:[^$]*[^$\s])?)\$(?!\$)"
)


def translate(text: str) -> str:
    r"""Return a paragraph of a docstring with its code and mathematics marked for Sphinx.

    >>> translate("weights of `n_heads` heads, $d_k$ wide")
    'weights of ``n_heads`` heads, :math:`d_k` wide'
    >>> translate("already ``marked``, and :math:`x`")
    'already ``marked``, and :math:`x`'
    >>> print(translate("several `Pair`s"))  # a mark has to end before a letter
    several ``Pair``\ s
    >>> translate("$x = y$")  # a paragraph of its own
    '.. math:: x = y'
    """
    if formula := re.fullmatch(r"\s*\$([^$]+)\$\s*", text):
        return ".. math:: " + " ".join(formula[1].split())

    def replace(found: re.Match[str]) -> str:
        if found["kept"]:
            return found["kept"]
        mark = f"``{found['code']}``" if found["code"] else f":math:`{found['math']}`"
        before = "\\ " if re.match(r"\w", text[found.start() - 1 : found.start()]) else ""
        after = "\\ " if re.match(r"\w", text[found.end() : found.end() + 1]) else ""
        return before + mark + after

    return MARKED.sub(replace, text)


def translate_docstring(lines: list[str]) -> list[str]:
    """Return the lines of a docstring, translated; a formula may run over two lines.

    >>> translate_docstring(["is $a +", "b$", "", ">>> f(`x`)", "`1`", "", "`end`"])
    ['is :math:`a +', 'b`', '', '>>> f(`x`)', '`1`', '', '``end``']
    >>> translate_docstring(["$a +", "b$", "", "`end`"])
    ['.. math:: a + b', '', '``end``']
    """
    result: list[str] = []
    for paragraph in re.split(r"(\n(?:[ \t]*\n)+)", "\n".join(lines)):
        prompt = re.search(r"^[ \t]*>>>", paragraph, re.M)
        end = prompt.start() if prompt else len(paragraph)
        result.append(translate(paragraph[:end]) + paragraph[end:])
    return "".join(result).split("\n")


def show_listings(text: str) -> str:
    """Return a module's docstring with its indented paragraphs shown as they are typed.

    >>> show_listings("Files:\\n\\n    data/*.tsv   words")
    'Files:\\n\\n::\\n\\n    data/*.tsv   words'
    """
    paragraphs = text.split("\n\n")
    listing = [all(line.startswith("    ") for line in p.split("\n")) for p in paragraphs]
    marked = (
        "::\n\n" + p if is_code else p for p, is_code in zip(paragraphs, listing, strict=True)
    )
    return "\n\n".join(marked)


def command_of(function: object) -> typer.Context | None:
    """Return the context of the command that a function is, in a typer app of its module; None if it is none.

    >>> print(command_of(shorten))
    None
    """
    name = getattr(function, "__module__", None) or ""
    module = sys.modules.get(name)
    for app in list(vars(module).values()) if inspect.isfunction(function) and module else []:
        if isinstance(app, typer.Typer):
            program = typer.Context(
                typer.main.get_command(app), info_name=name.split(".")[0].replace("_", "-")
            )
            for word, command in getattr(program.command, "commands", {}).items():
                if inspect.unwrap(command.callback) is function:
                    return typer.Context(command, parent=program, info_name=word)
    return None


def usage_and_options(context: typer.Context) -> list[str]:
    """Return what `--help` says of a command beside its docstring, as lines of reStructuredText.

    >>> def greet(name: str, loud: bool = typer.Option(False, "--loud", help="CAPITALS*.")) -> None: ...
    >>> app = typer.Typer(add_completion=False)
    >>> _ = app.command()(greet)
    >>> for line in usage_and_options(typer.Context(typer.main.get_command(app), info_name="greet")):
    ...     print(line)
    <BLANKLINE>
    :Usage: ``greet [OPTIONS] {name}``
    :Arguments: * ``name <str>`` – \\[required\\]
    :Options: * ``--loud`` – CAPITALS\\*.
    """
    command = context.command
    words = [context.command_path, *command.collect_usage_pieces(context)]
    lines = ["", f":Usage: ``{' '.join(words)}``"]
    for kind in ("argument", "option"):
        start = f":{kind.title()}s: "
        for parameter in command.params:
            if parameter.param_type_name == kind and (record := parameter.get_help_record(context)):
                told = rst.escape(" ".join(record[1].split()))
                lines.append(f"{start}* ``{record[0]}`` – {told}")
                start = " " * len(start)
    return lines


def process(
    _app: Sphinx, what: str, _name: str, obj: object, _options: object, lines: list[str]
) -> None:
    """Translate the docstring that autodoc is about to read."""
    if what == "module":  # from the source: autodoc has cut off the indentation of listings
        lines[:] = show_listings((getattr(obj, "__doc__", None) or "").strip()).split("\n")
    lines[:] = translate_docstring(lines)
    if context := command_of(obj):
        lines += usage_and_options(context)


def shorten(signature: str) -> str:
    """Return a signature with NumPy's ArrayLike by its name, and each default as code.

    What isn't code makes Sphinx write the whole signature as it is, in one line.

    >>> shorten("(part: ~package.Part = <factory>)")
    '(part: ~package.Part = Part())'
    >>> shorten("(say=<built-in function print>, act=<built-in method relu of type object>)")
    '(say=print, act=relu)'
    >>> shorten("(end=<function <lambda>>)")
    '(end=...)'
    """
    signature = signature.replace("<function <lambda>>", "...")
    signature = re.sub(r"<(?:built-in )?(?:function|method) (\w+)[^>]*>", r"\1", signature)
    spelled_out = stringify_annotation(ArrayLike, "smart")
    signature = signature.replace(spelled_out, "~numpy.typing.ArrayLike")
    return re.sub(r"(\w+)((?:\[[^=]*\])? = )<factory>", r"\1\2\1()", signature)


def process_signature(
    _app: Sphinx,
    what: str,
    _name: str,
    obj: Any,
    _options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Shorten the signature that autodoc is about to write.

    A widget's is read from its `__init__`, for traitlets' `__new__` takes anything. A command has none: it is
    called from the command line, and its options stand below.
    """
    if command_of(obj):
        return "(…)", None
    if signature and what == "class" and signature.startswith("(*args"):
        signature = stringify_signature(
            signature_of(obj.__init__, bound_method=True),
            show_return_annotation=False,
            unqualified_typehints=True,
        )
    return signature and shorten(signature), returned and shorten(returned)


def break_at_dots(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Let the name of a module go on in the next line after each of its dots, and nowhere else."""
    for name in doctree.findall(addnodes.desc_addname):
        parts = [nodes.Text(f"{part}.") for part in name.astext().rstrip(".").split(".")]
        name.children.clear()
        for part in parts:
            name += [part, nodes.raw("", "<wbr>", format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to autodoc, earlier than napoleon, whose priority is 500, and to the pages it wrote."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("doctree-resolved", break_at_dots)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
