"""The `quiz` directive: questions declared as YAML, rendered as native HTML form controls.

In a page or in a Markdown cell of a notebook::

    ```{quiz}
    - question: What do the weights of one query sum to?
      choices:
        - text: 1
          correct: true
          why: Softmax divides by the sum.
        - text: The number of keys
          why: That would be a sum, not an average.
    ```

or, from a file beside the page: ``{quiz} attention_quiz.yml``. All text is Markdown of the book,
with mathematics and roles. Every choice says why it is right or wrong. One right choice makes radio
buttons, several make check boxes. Where scripts don't run, and in print, choices and explanations
are plain text. As YAML wants, a text that contains a colon and a space, or starts with a bracket,
a brace, a backtick or an asterisk, is quoted or written as a block (``>-``).
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from quiz_yaml import Question, QuizError, parse_quiz
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class quiz_block(nodes.General, nodes.Element):
    """All questions of one directive."""


class quiz_question(nodes.General, nodes.Element):
    """One question; attributes `number`, `total`, `several`."""


class quiz_legend(nodes.General, nodes.TextElement):
    """The sentence asked (inline content only, as HTML wants it)."""


class quiz_choice(nodes.General, nodes.Element):
    """One choice; attributes `name`, `ident`, `correct`, `several`."""


class quiz_label(nodes.General, nodes.TextElement):
    """The text of a choice (inline content only)."""


class quiz_why(nodes.General, nodes.Element):
    """The explanation of a choice; attributes `ident`, `correct`."""


class QuizDirective(SphinxDirective):
    """Render a quiz; see the module's docstring."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse the YAML and build the nodes; any fault is a build error with file and line."""
        text, source, first_line = self._yaml()
        try:
            questions = parse_quiz(text)
        except QuizError as fault:
            raise self.error(
                f"{_place(source, first_line + fault.line - 1)}: quiz: {fault}"
            ) from None
        block = quiz_block(total=len(questions))
        self.set_source_info(block)
        for number, question in enumerate(questions, start=1):
            block += self._question(question, number, len(questions))
        return [block]

    def _yaml(self) -> tuple[str, str, int]:
        """Return the YAML text, the file it stands in, and the line of that file it starts at."""
        document = self.env.doc2path(self.env.docname, base=False)
        if not self.arguments:
            return "\n".join(self.content), document, self.lineno + self.content_offset + 1
        if self.content:
            raise self.error(f"{document}: quiz: give a file name or questions, not both")
        relative, absolute = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        try:
            return Path(absolute).read_text(encoding="utf-8"), relative, 1
        except OSError:
            raise self.error(f"{document}: quiz: there is no file {relative}") from None

    def _question(self, question: Question, number: int, total: int) -> quiz_question:
        """Build the nodes of one question."""
        name = f"quiz-{self.env.new_serialno('quiz')}"
        node = quiz_question(number=number, total=total, several=question.several)
        legend = quiz_legend()
        node += legend
        node.extend(self._markdown(question.text, legend))
        for index, choice in enumerate(question.choices):
            ident = f"{name}-{index}"
            item = quiz_choice(
                name=name, ident=ident, correct=choice.correct, several=question.several
            )
            label = quiz_label(ident=ident)
            if self._markdown(choice.text, label):
                raise self.error(f"quiz: the choice {choice.text!r} must be one paragraph")
            if all(isinstance(part, nodes.math) for part in label.children):
                item["name_of_formula"] = label.astext()
            why = quiz_why(ident=ident, correct=choice.correct)
            self.state.nested_parse(StringList(choice.why.splitlines()), 0, why)
            item += [label, why]
            node += item
        return node

    def _markdown(self, text: str, inline: nodes.TextElement) -> list[nodes.Node]:
        """Parse Markdown; its first paragraph fills `inline`, the rest is returned."""
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines()), 0, holder)
        if not isinstance(holder.children[0], nodes.paragraph):
            raise self.error(f"quiz: {text!r} must start with a paragraph")
        inline.extend(holder.children[0].children)
        return list(holder.children[1:])


def _place(source: str, line: int) -> str:
    """Name a place: myst-nb gives line L of a notebook's cell N as N * 10000 + L + 1."""
    if source.endswith(".ipynb"):
        return f"{source}, cell {line // 10000}, line {line % 10000 - 1}"
    return f"{source}, line {line}"


def _attribute(text: str) -> str:
    """Return text that is safe as an HTML id."""
    return re.sub(r"[^A-Za-z0-9-]", "-", text)


def visit_block_html(self: Any, node: quiz_block) -> None:
    """Open the quiz."""
    word = "question" if node["total"] == 1 else "questions"
    label = f"Quiz, {node['total']} {word}"
    self.body.append(
        self.starttag(node, "div", CLASS="quiz", role="group", **{"aria-label": label})
    )


def depart_block_html(self: Any, node: quiz_block) -> None:
    """Close the quiz."""
    self.body.append("</div>\n")


def visit_question_html(self: Any, node: quiz_question) -> None:
    """Open a question."""
    self.body.append('<form class="quiz-question"><fieldset>\n')


def depart_question_html(self: Any, node: quiz_question) -> None:
    """Close a question with its button and the line that tells the result."""
    self.body.append(
        '<div class="quiz-foot"><button type="submit" class="quiz-check">Check</button>'
        '<p class="quiz-verdict" role="status"></p></div>\n</fieldset></form>\n'
    )


def visit_legend_html(self: Any, node: quiz_legend) -> None:
    """Open the sentence asked, after its number."""
    question = node.parent
    number = f"Question {question['number']} of {question['total']}"
    if question["several"]:
        number += ": choose all that are right"
    self.body.append(f'<legend><span class="quiz-number">{number}</span>\n')


def depart_legend_html(self: Any, node: quiz_legend) -> None:
    """Close the sentence asked."""
    self.body.append("</legend>\n")


def visit_choice_html(self: Any, node: quiz_choice) -> None:
    """Open a choice with its native control."""
    ident, kind = _attribute(node["ident"]), "checkbox" if node["several"] else "radio"
    formula = node.get(
        "name_of_formula"
    )  # a formula alone gives a control no name: its source does
    spoken = f' aria-label="{escape(formula)}"' if formula else ""
    self.body.append(
        f'<div class="quiz-choice" data-correct="{str(node["correct"]).lower()}">'
        f'<input type="{kind}" id="{ident}" name="{_attribute(node["name"])}"{spoken}'
        ' autocomplete="off">\n'
    )


def depart_choice_html(self: Any, node: quiz_choice) -> None:
    """Close a choice."""
    self.body.append("</div>\n")


def visit_label_html(self: Any, node: quiz_label) -> None:
    """Open the text of a choice."""
    self.body.append(f'<label for="{_attribute(node["ident"])}">')


def depart_label_html(self: Any, node: quiz_label) -> None:
    """Close the text of a choice."""
    self.body.append("</label>\n")


def visit_why_html(self: Any, node: quiz_why) -> None:
    """Open an explanation; the word before it says right or wrong without colour."""
    word = "Right." if node["correct"] else "Wrong."
    self.body.append(
        f'<div class="quiz-why" id="{_attribute(node["ident"])}-why"><strong>{word}</strong>\n'
    )


def depart_why_html(self: Any, node: quiz_why) -> None:
    """Close an explanation."""
    self.body.append("</div>\n")


def pass_through(self: Any, node: nodes.Node) -> None:
    """Write only what is inside: other formats show a quiz as text."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and its nodes with Sphinx."""
    html = {
        quiz_block: (visit_block_html, depart_block_html),
        quiz_question: (visit_question_html, depart_question_html),
        quiz_legend: (visit_legend_html, depart_legend_html),
        quiz_choice: (visit_choice_html, depart_choice_html),
        quiz_label: (visit_label_html, depart_label_html),
        quiz_why: (visit_why_html, depart_why_html),
    }
    plain = (pass_through, pass_through)
    for node, visitors in html.items():
        app.add_node(node, html=visitors, latex=plain, text=plain, man=plain, texinfo=plain)
    app.add_directive("quiz", QuizDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
