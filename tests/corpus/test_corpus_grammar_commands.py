"""Irregular commands, reflexive verbs in longer sentences, owners, times: sentences written by hand."""

from collections.abc import Callable
from itertools import islice

import pytest

from transformer_course.corpus.grammar import (
    commands,
    conditionals,
    irregular_commands,
    owners,
    reflexive_clauses,
    times,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import sentences_of
from transformer_course.corpus.grammar.mixture import Rule
from transformer_course.corpus.grammar.orthography import CAREFUL
from transformer_course.corpus.grammar.splits import SPLITS
from transformer_course.corpus.pairs import Pair


def found(rule: Rule, wanted: Callable[[str], bool]) -> Pair:
    """The first pair of a rule with a source that is wanted, in whatever split."""
    for split in SPLITS:  # training first: there is nothing else of a rule that holds nothing out
        for pair in islice(sentences_of(split, (rule,), Dice(3), style=CAREFUL), 15_000):
            if wanted(pair.source):
                return pair
    raise AssertionError(f"{rule.__name__} says nothing of the kind")


@pytest.mark.parametrize(
    ("rule", "source", "targets"),
    [
        (
            irregular_commands.dont_be_afraid,
            "Don't be afraid!",
            {"N'aie pas peur !", "N'ayez pas peur !"},
        ),
        (irregular_commands.dont_be_afraid, "Let's not be afraid.", {"N'ayons pas peur."}),
        (
            irregular_commands.dont_be_afraid,
            "Have courage!",
            {"Aie du courage !", "Ayez du courage !"},
        ),
        (
            irregular_commands.be_patient,
            "Let's be honest.",
            {"Soyons honnêtes."},
        ),
        (commands.go_there, "Let's talk about it!", {"Parlons-en !"}),
        (commands.go_there, "Talk about it.", {"Parles-en.", "Parlez-en."}),
        (commands.go_there, "Think of it!", {"Penses-y !", "Pensez-y !"}),
        (commands.go_there, "Don't talk about it.", {"N'en parle pas.", "N'en parlez pas."}),
        (commands.command_with_pronoun, "Turn it on!", None),
        (
            reflexive_clauses.wants_to_rest,
            "You must get up.",
            {"Tu dois te lever.", "Vous devez vous lever."},
        ),
        (reflexive_clauses.wants_to_rest, "I want to rest.", {"Je veux me reposer."}),
        (
            reflexive_clauses.wants_to_rest,
            "We decide to hide.",
            {"Nous décidons de nous cacher."},
        ),
        (
            reflexive_clauses.did_you_rest,
            "Did she get up?",
            {"Est-ce qu'elle s'est levée ?", "S'est-elle levée ?"},
        ),
        (
            reflexive_clauses.did_you_rest,
            "Do you hurry?",
            {
                "Est-ce que tu te dépêches ?",
                "Te dépêches-tu ?",
                "Est-ce que vous vous dépêchez ?",
                "Vous dépêchez-vous ?",
            },
        ),
        (
            owners.is_it_yours,
            "Is this key hers?",
            {
                "Est-ce que cette clé est à elle ?",
                "Cette clé est-elle à elle ?",
                "Est-ce que cette clé est la sienne ?",
                "Cette clé est-elle la sienne ?",
            },
        ),
        (
            conditionals.would_like,
            "I'd like water.",
            {"Je voudrais de l'eau.", "J'aimerais de l'eau."},
        ),
        (times.it_is, "It is a quarter to two.", {"Il est deux heures moins le quart."}),
        (times.it_is, "It is a quarter past one.", {"Il est une heure et quart."}),
    ],
)
def test_sentences(rule: Rule, source: str, targets: set[str] | None) -> None:
    pair = found(rule, lambda text: text == source)
    if targets is not None:
        assert set(pair.targets) == targets


def test_know_that_is_said_to_one_and_to_several() -> None:
    pair = found(irregular_commands.know_that, lambda text: text.startswith("Know that the "))
    one, several = sorted(target.partition(" que ")[0] for target in pair.targets)
    assert (one, several) == ("Sache", "Sachez")
    assert pair.targets[0].partition(" que ")[2] == pair.targets[1].partition(" que ")[2]


@pytest.mark.parametrize(
    ("owner", "french"),
    [
        ("the king's", "du roi."),
        ("the children's", "des enfants."),
        ("the sailors'", "des marins."),
        ("my uncle's", "de mon oncle."),
    ],
)
def test_other_peoples_things(owner: str, french: str) -> None:
    pair = found(owners.boys_dog, lambda text: f" {owner} " in text)
    assert pair.target.endswith(f" {french}")


def test_lets_not_is_a_negated_command() -> None:
    pair = found(commands.simple_command, lambda text: text.startswith("Let's not enter the "))
    assert pair.target.startswith("N'entrons pas dans l")


def test_nothing_will_happen_in_the_past() -> None:
    for split in SPLITS:
        for pair in islice(sentences_of(split, (times.at_a_time,), Dice(0), style=CAREFUL), 3000):
            year = pair.source.rstrip(".").split()[-1]
            if year.isdigit() and len(year) == 4:
                assert (" will " in pair.source) == (int(year) > 2026), pair.source


def test_not_everybody_shouts() -> None:
    marks = {commands.mark_of(Dice(seed)) for seed in range(20)}
    assert marks == {"!", "."}


def test_only_people_wish_for_a_coffee() -> None:
    for seed in range(500):
        subject = conditionals.would_like(Dice(seed)).phrases[0]
        assert subject.noun is None or "person" in subject.noun.classes
