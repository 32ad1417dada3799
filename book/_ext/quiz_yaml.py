"""Read and check the questions of a quiz, written as YAML; every fault names its line."""

from __future__ import annotations

from dataclasses import dataclass

import yaml


class QuizError(ValueError):
    """A quiz is not well formed; `line` counts from 1 within the YAML text."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


@dataclass(frozen=True)
class Choice:
    """One answer offered: its text, whether it is right, and why."""

    text: str
    correct: bool
    why: str
    line: int


@dataclass(frozen=True)
class Question:
    """One question with its choices; several right choices make it a check-box question."""

    text: str
    choices: tuple[Choice, ...]
    line: int

    @property
    def several(self) -> bool:
        """True if more than one choice is right."""
        return sum(choice.correct for choice in self.choices) > 1


def parse_quiz(text: str) -> tuple[Question, ...]:
    """Read the questions of a quiz from YAML, a list of questions or a single one.

    Raises:
        QuizError: the YAML is malformed, or a key is missing, unknown, doubled or empty.

    >>> quiz = parse_quiz("question: 1 + 1?\\nchoices:\\n- {text: 2, correct: true, why: yes.}\\n"
    ...                   "- {text: 3, why: One too many.}")
    >>> quiz[0].text, quiz[0].several, quiz[0].choices[1].why
    ('1 + 1?', False, 'One too many.')
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise QuizError(line, f"not valid YAML: {error.problem or error.context}") from None
    if root is None:
        raise QuizError(1, "the quiz is empty")
    items = root.value if isinstance(root, yaml.SequenceNode) else [root]
    return tuple(_question(item) for item in items)


def _question(node: yaml.Node) -> Question:
    """Check one question and its choices."""
    fields = _mapping(node, "a question", required={"question", "choices"})
    line = node.start_mark.line + 1
    listed = fields["choices"]
    if not isinstance(listed, yaml.SequenceNode) or len(listed.value) < 2:
        raise QuizError(listed.start_mark.line + 1, "choices must be a list of two or more")
    choices = tuple(_choice(item) for item in listed.value)
    if not any(choice.correct for choice in choices):
        raise QuizError(line, "no choice has `correct: true`")
    if len({choice.text for choice in choices}) < len(choices):
        raise QuizError(line, "two choices have the same text")
    return Question(_text(fields["question"], "question"), choices, line)


def _choice(node: yaml.Node) -> Choice:
    """Check one choice."""
    fields = _mapping(node, "a choice", required={"text", "why"}, optional={"correct"})
    correct = _text(fields["correct"], "correct") if "correct" in fields else "false"
    line = node.start_mark.line + 1
    if correct not in {"true", "false"}:
        raise QuizError(line, f"correct must be true or false, not {correct!r}")
    text, why = _text(fields["text"], "text"), _text(fields["why"], "why")
    return Choice(text, correct == "true", why, line)


def _mapping(
    node: yaml.Node,
    what: str,
    required: set[str],
    optional: frozenset[str] | set[str] = frozenset(),
) -> dict[str, yaml.Node]:
    """Return the fields of a YAML mapping after checking its keys."""
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        raise QuizError(line, f"{what} must be a mapping with the keys {_listed(required)}")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.value in fields:
            raise QuizError(key.start_mark.line + 1, f"{what} has the key {key.value!r} twice")
        fields[key.value] = value
    if missing := required - fields.keys():
        raise QuizError(line, f"{what} lacks {_listed(missing)}")
    if unknown := fields.keys() - required - optional:
        raise QuizError(line, f"{what} has the unknown key {_listed(unknown)}")
    return fields


def _text(node: yaml.Node, key: str) -> str:
    """Return a scalar as it is written (`4.10` stays `4.10`, `yes` stays `yes`)."""
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.ScalarNode):
        raise QuizError(line, f"{key} must be text: put it in quotes")
    if not node.value.strip():
        raise QuizError(line, f"{key} is empty")
    return str(node.value).strip()


def _listed(keys: set[str]) -> str:
    """Return keys as they are named in a message."""
    return ", ".join(f"`{key}`" for key in sorted(keys))
