"""Commands, conditionals, reflexive verbs, times, directions, owners: against sentences by hand."""

from collections.abc import Callable
from itertools import islice

import pytest

from transformer_course.corpus.grammar import (
    commands,
    conditionals,
    directions,
    everyday,
    idioms,
    irregular_commands,
    lexicon,
    names,
    owners,
    reflexives,
    times,
)
from transformer_course.corpus.grammar.clauses import french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, sentences_of
from transformer_course.corpus.grammar.lexicon import REFLEXIVES, VERB, Verb
from transformer_course.corpus.grammar.orthography import CAREFUL
from transformer_course.corpus.grammar.phrases import pronoun
from transformer_course.corpus.grammar.spelling import spell
from transformer_course.corpus.pairs import Pair

SELF = {verb.infinitive: verb for verb in REFLEXIVES}


def said(rule: Callable[[Dice], Draft], n: int = 3000) -> dict[str, Pair]:
    """What a rule says of the most different things, carefully written, by its source."""
    drawn = sentences_of("train", (rule,), Dice(1), style=CAREFUL)
    return {pair.source: pair for pair in islice(drawn, n)}


@pytest.mark.parametrize(
    ("verb", "person", "clitics", "negated", "expected"),
    [
        ("eat", 1, "", False, "mange"),
        ("open", 1, "", False, "ouvre"),
        ("open", 4, "le", False, "ouvrez-le"),
        ("open", 1, "le", True, "ne l'ouvre pas"),
        ("finish", 1, "", False, "finis"),
        ("take", 1, "la", False, "prends-la"),
        ("go", 1, "", False, "va"),
        ("go", 1, "y", False, "vas-y"),
        ("go", 1, "y", True, "n'y va pas"),
        ("go", 3, "y", False, "allons-y"),
        ("watch", 1, "me", False, "regarde-moi"),
        ("watch", 4, "me", True, "ne me regardez pas"),
        ("give", 1, "me le", False, "donne-le-moi"),
        ("give", 1, "me le", True, "ne me le donne pas"),
        ("give", 4, "les lui", False, "donnez-les-lui"),
        ("give", 1, "la leur", True, "ne la leur donne pas"),
        ("give", 4, "nous les", False, "donnez-les-nous"),
    ],
)
def test_command(verb: str, person: int, clitics: str, negated: bool, expected: str) -> None:
    keyed = [(word, 24) for word in clitics.split()]
    words = commands.french_command(VERB[verb], person, keyed, negated)
    assert " ".join(spell(words)[0]) == expected


@pytest.mark.parametrize(
    ("infinitive", "person", "negated", "expected"),
    [
        ("lever", 1, False, "lève-toi"),
        ("lever", 4, True, "ne vous levez pas"),
        ("endormir", 1, True, "ne t'endors pas"),
        ("habiller", 3, False, "habillons-nous"),
    ],
)
def test_reflexive_command(infinitive: str, person: int, negated: bool, expected: str) -> None:
    own = [(reflexives.OWN[person], 80)]
    words = commands.french_command(SELF[infinitive], person, own, negated)
    assert " ".join(spell(words)[0]) == expected


@pytest.mark.parametrize(
    ("verb", "who", "tense", "negation", "expected"),
    [
        ("lever", "she", "past", "", "elle s'est levée"),
        ("lever", "they", "present", "", "ils se lèvent"),
        ("habiller", "i", "past", "not", "je ne me suis pas habillé"),
        ("endormir", "you", "future", "", "tu t'endormiras"),
        ("promener", "we", "present", "never", "nous ne nous promenons jamais"),
    ],
)
def test_reflexive_forms(verb: str, who: str, tense: str, negation: str, expected: str) -> None:
    reading = pronoun(who, 1).readings[0]
    own = reflexives.oneself(reading)
    words = french_verb(reading, SELF[verb], tense, negation=negation, clitics=own)
    assert " ".join(spell([*reading.words, *words])[0]) == expected


def test_the_participle_stays_where_something_else_is_washed() -> None:
    she = pronoun("she", 1).readings[0]
    wash = VERB["wash"]
    washed = reflexives.washing(she, wash, "past", "not")
    assert " ".join(spell(washed)[0]) == "ne s'est pas lavé"


@pytest.mark.parametrize(
    ("verb", "tense", "expected"),
    [
        ("eat", "imperfect", "nous mangions"),
        ("begin", "imperfect", "nous commencions"),
        ("come", "conditional", "nous viendrions"),
        ("buy", "conditional", "nous achèterions"),
    ],
)
def test_tenses(verb: str, tense: str, expected: str) -> None:
    we = pronoun("we", 1).readings[0]
    words = [*we.words, *french_verb(we, VERB[verb], tense)]
    assert " ".join(spell(words)[0]) == expected


def test_commands_end_in_their_mark_and_address_one_or_more() -> None:
    pairs = said(commands.simple_command)
    assert set(pairs["Go to the market!"].targets) == {"Va au marché !", "Allez au marché !"}
    assert pairs["Let's go to the church!"].targets == ("Allons à l'église !",)
    assert set(pairs["Don't run!"].targets) == {"Ne cours pas !", "Ne courez pas !"}


def test_manners_agree_with_all_who_may_be_spoken_to() -> None:
    pairs = said(irregular_commands.be_patient, 300)
    assert set(pairs["Be kind!"].targets) == {
        "Sois gentil !",
        "Sois gentille !",
        "Soyez gentil !",
        "Soyez gentille !",
        "Soyez gentils !",
        "Soyez gentilles !",
    }


def test_your_book_is_asked_for_by_one_register_at_a_time() -> None:
    for pair in said(commands.command).values():
        if " your " in pair.source and not pair.source.startswith("Let"):
            for target in pair.targets:
                found = set(target.split())
                polite = any(word.endswith("ez") for word in target.split()[:2])
                assert found & ({"votre", "vos"} if polite else {"ton", "ta", "tes"}), target


def test_conditionals() -> None:
    wished = said(conditionals.would_like)
    assert wished["I would like coffee."].targets == (
        "Je voudrais du café.",
        "J'aimerais du café.",
    )
    for source, pair in said(conditionals.if_i_had).items():
        assert ("If " in source) == pair.target.startswith(("Si ", "S'"))
        assert ("," in source) == ("," in pair.target)


def test_times() -> None:
    clocks = said(times.it_is, 2000)
    assert clocks["It is half past two."].targets == ("Il est deux heures et demie.",)
    assert clocks["It is 1 o'clock."].targets == ("Il est 1 heure.", "Il est une heure.")
    assert clocks["It is noon."].targets == ("Il est midi.",)
    for source, pair in said(times.counted, 500).items():
        number = next(word for word in source.split() if word.isdigit())
        assert pair.target.split()[3] == number


def test_years_and_the_first_of_a_month() -> None:
    pairs = said(times.at_a_time, 20_000)
    firsts = [pair for source, pair in pairs.items() if " on 1 " in source]
    assert firsts
    assert all(" le 1er " in pair.target for pair in firsts)
    for source, pair in said(times.born, 500).items():
        assert source.rstrip(".").split()[-1] == pair.target.rstrip(".").split()[-1]


def test_directions_and_owners() -> None:
    pairs = said(directions.direction, 20_000)
    assert any(source.startswith("He walks towards the ") for source in pairs)
    for source, pair in pairs.items():
        if source.startswith("He walks towards the "):
            assert pair.target.startswith("Il marche vers l")
    came = [p for s, p in pairs.items() if s.startswith("She came out of the ")]
    assert came
    assert all(p.target.startswith(("Elle est sortie du ", "Elle est sortie de l")) for p in came)
    mine = said(owners.mine, 5000)
    assert mine["This dog is mine."].targets == ("Ce chien est à moi.", "Ce chien est le mien.")
    ours = [pair.targets for source, pair in mine.items() if source.endswith("s are ours.")]
    assert ours
    assert all(a.endswith("sont à nous.") and b.endswith("sont les nôtres.") for a, b in ours)
    assert said(owners.whose)["Whose dog is this?"].targets == ("À qui est ce chien ?",)


def test_eight_hundred_lemmas() -> None:
    tables = (lexicon.NOUNS, lexicon.ADJECTIVES, lexicon.VERBS, lexicon.PROFESSIONS)
    assert sum(len(set(map(name, table))) for table in tables) + len(REFLEXIVES) >= 800


def name(row: object) -> str:
    """What a row of a table is called: a verb by its French too."""
    if isinstance(row, Verb):
        return f"{row.name} {row.infinitive}"
    return str(getattr(row, "name", row))


@pytest.mark.parametrize(
    ("rule", "english", "french"),
    [
        (everyday.likes, "She likes rice.", {"Elle aime le riz."}),
        (everyday.likes, "He doesn't like cows.", {"Il n'aime pas les vaches."}),
        (everyday.works_in, "Sarah works in a hospital.", {"Sarah travaille dans un hôpital."}),
        (everyday.works_in, "He will wait in the kitchen.", {"Il attendra dans la cuisine."}),
        (everyday.has_both, "She has 3 brothers and 4 friends.", {"Elle a 3 frères et 4 amis."}),
        (everyday.has_both, "He has an aunt and 4 sisters.", {"Il a une tante et 4 sœurs."}),
        (everyday.is_doing, "He is singing.", {"Il chante.", "Il est en train de chanter."}),
        (
            everyday.goes_to_do,
            "He went to the village to drink the wine.",
            {"Il est allé au village pour boire le vin."},
        ),
        (names.goes_there, "She will go to Switzerland tomorrow.", {"Elle ira en Suisse demain."}),
        (idioms.age, "She is 12 years old.", {"Elle a 12 ans.", "Elle a douze ans."}),
    ],
)
def test_what_is_said_every_day(
    rule: Callable[[Dice], Draft], english: str, french: set[str]
) -> None:
    assert set(said(rule)[english].targets) == french
