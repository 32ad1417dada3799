"""The English side: plurals in -o, verbs whose particle lets a pronoun in."""

import pytest

from transformer_course.corpus.grammar import commands, infinitives, pronouns
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import write_english
from transformer_course.corpus.grammar.lexicon import DESCRIBING, NOUN, NOUNS, VERBS
from transformer_course.corpus.grammar.mixture import Rule


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("piano", "pianos"),
        ("photo", "photos"),
        ("radio", "radios"),
        ("zoo", "zoos"),
        ("potato", "potatoes"),
        ("volcano", "volcanoes"),
        ("thief", "thieves"),
        ("goose", "geese"),
        ("child", "children"),
        ("tooth", "teeth"),
    ],
)
def test_english_plurals(singular: str, plural: str) -> None:
    assert NOUN[singular].english == (singular, plural)


@pytest.mark.parametrize(
    "rule",
    [
        pronouns.direct,
        pronouns.object_again,
        infinitives.infinitive,
        commands.command_with_pronoun,
    ],
)
def test_a_pronoun_stands_between_a_verb_and_its_particle(rule: Rule) -> None:
    apart = {verb.particle for verb in VERBS if "apart" in verb.frame}
    assert apart == {"on", "off", "up"}
    texts = [f"{write_english(rule(Dice(seed)).english)[0]} " for seed in range(4000)]
    for particle in apart:
        assert any(f" {pronoun} {particle} " in t for t in texts for pronoun in ("it", "them"))
        assert not any(f" {particle} {pronoun} " in t for t in texts for pronoun in ("it", "them"))


def test_two_different_things_can_be_done_with_what_is_passed_on() -> None:
    """Else the rule would look for a second verb for ever."""
    for noun in pronouns.PASSED_ON:
        assert pronouns.ACTIONS[noun]
        assert len({*pronouns.ACTIONS[noun], *pronouns.GIVING[noun]}) > 1, noun.name


def test_something_can_be_said_of_every_noun() -> None:
    """A rule that looks for an adjective, or for another one, finds it."""
    assert [noun.name for noun in NOUNS if len(DESCRIBING[noun]) < 3] == []
