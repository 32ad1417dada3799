"""What things are like, and what there is: my car is old and slow; is there any bread?"""

from transformer_course.corpus.everyday.clauses import speaker
from transformer_course.corpus.everyday.degrees import NATIONAL
from transformer_course.corpus.everyday.degrees import more as comparative
from transformer_course.corpus.everyday.slots import adjective_for, describing, draw
from transformer_course.corpus.everyday.tails import TAIL, Words
from transformer_course.corpus.grammar.clauses import (
    english_be,
    english_be_words,
    french_be,
    inverted_pronoun,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.parts import PEOPLE, UNGRADED
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.questions import EST_CE_QUE, WH, is_pronoun

LINK = 95

PLACES_OF_THINGS = (
    ("in the kitchen", "dans la cuisine"),
    ("in the garden", "dans le jardin"),
    ("in the street", "dans la rue"),
    ("on the table", "sur la table"),
    ("in my bag", "dans mon sac"),
    ("under the bed", "sous le lit"),
    ("in the fridge", "dans le frigo"),
    ("here", "ici"),
    ("near here", "près d'ici"),
    ("in the classroom", "dans la classe"),
    ("at the party", "à la fête"),
    ("outside", "dehors"),
    ("in this town", "dans cette ville"),
    ("on the train", "dans le train"),
    ("behind the house", "derrière la maison"),
    ("next to the station", "à côté de la gare"),
)

AROUND = tuple(
    pair
    for pair in PLACES_OF_THINGS
    if pair[0].split()[0] not in ("on", "under") and "in " not in pair[0][:3]
)

THERE = {
    "present": ("is", "are", "a"),
    "past": ("was", "were", "avait"),
    "future": ("will be", "will be", "aura"),
}

PLAIN_SUBJECTS = (
    "misc",
    "vehicle",
    "carried",
    "home",
    "eaten",
    "drunk",
    "animal",
    "relative",
    "place",
    "dwelling",
    "worn",
    "thing",
    "furniture",
    "named",
    "named",
    "exam",
)

DEGREES = (
    ("very", "très"),
    ("very", "très"),
    ("too", "trop"),
    ("so", "si"),
    ("really", "vraiment"),
    ("a little", "un peu"),
)

INCOMPARABLE = UNGRADED | NATIONAL | {"great", "amazing", "different", "older", "younger", "little"}
ABSOLUTE = frozenset(
    (
        *INCOMPARABLE,
        "cheap",
        "good",
        "bad",
        "huge",
        "magnificent",
        "wonderful",
        "perfect",
        "terrible",
    )
)

FORMS = {
    "mien": (("le mien", "les miens"), ("la mienne", "les miennes")),
    "tien": (("le tien", "les tiens"), ("la tienne", "les tiennes")),
    "vôtre": (("le vôtre", "les vôtres"), ("la vôtre", "les vôtres")),
}


def whose(english: str, *french: str) -> Phrase:
    """A possessive pronoun: mine, yours."""
    readings = tuple(
        Reading([(word, 34)], 2, "m", False, [], {"tien": "tu", "vôtre": "vous"}.get(word, ""))
        for word in french
    )
    return Phrase([(english, 34)], readings, True, common=len(readings))


OWNERS = (whose("mine", "mien"), whose("yours", "tien", "vôtre"))


def owned(words: Words, thing: Reading) -> Words:
    """The words; mien becomes le mien, la mienne, les miens, with what is owned."""
    (word, key), *rest = words
    if word not in FORMS:
        return words
    form = FORMS[word][thing.gender == "f"][thing.plural]
    return [(part, key) for part in form.split()] + rest


def described(dice: Dice) -> Draft:
    """My car is old and slow. Is the soup too hot? Your bag is heavier than mine. Why is she so sad?"""
    if dice.chance(0.35):
        subject = speaker(dice, False)
        noun = subject.noun or dice.pick(PEOPLE)
    else:
        determiner = dice.pick(("the", "the", "my", "your", "this", "her"))
        subject = draw(dice, f"{determiner}:{dice.pick(PLAIN_SUBJECTS)}", 1)
        assert subject.noun is not None
        noun = subject.noun
    known = describing(noun)
    if not known:
        return described(dice)
    first, second = adjective_for(dice, noun), dice.pick(known)
    meeting = first.name
    tense = dice.pick(("present", "present", "present", "past", "future"))
    asked, negated = dice.chance(0.2), dice.chance(0.2)
    why = asked and dice.chance(0.3)
    negated = negated and not asked
    kind = dice.pick(("plain", "degree", "degree", "two", "than"))
    english: Words = [(first.name, 84)]
    degree: Words = []
    more: Words = []
    compared: Phrase | None = None
    if kind == "degree":
        much, tres = dice.pick(DEGREES)
        english, degree = (
            [*((w, 85) for w in much.split()), *english],
            [(w, 85) for w in tres.split()],
        )
    elif kind == "two" and second.french != first.french:
        link, lien = dice.pick((("and", "et"), ("and", "et"), ("but", "mais")))
        english += [(link, LINK), (second.name, 86)]
        more = [(lien, LINK)]
    elif kind == "than" and first.name not in INCOMPARABLE and subject.noun:
        compared = draw(
            dice,
            f"{dice.pick(('my', 'your', 'this'))}:{dice.pick(('relative', 'vehicle', 'dwelling'))}1",
            3,
        )
        if dice.chance(0.25):  # "than mine"; who "mine" is depends on the subject
            compared = dice.pick(OWNERS)
        first = comparative(first)
        english = [(first.name, 84), ("than", 87), *compared.english]
    if (kind == "than" and compared is None) or (degree and first.name in ABSOLUTE):
        return described(dice)
    place, lieu = ("today", "aujourd'hui") if tense == "present" and dice.chance(0.1) else ("", "")

    def french(who: Reading, *readings: Reading) -> Variants:
        form = first.french[who.gender][who.plural]
        rest: Words = [*degree, (form, 84)]
        if more:
            rest += [*more, (second.french[who.gender][who.plural], 86)]
        if readings:
            rest += [("que", 87), *owned(readings[0].words, who)]
        rest += [(word, TAIL) for word in lieu.split()]
        if not asked:
            return [[*who.words, *french_be(who, tense, "not" if negated else ""), *rest]]
        begin: Words = [("pourquoi", WH)] if why else []
        ways = [[*begin, *EST_CE_QUE, *who.words, *french_be(who, tense), *rest]]
        if who.person:
            turned = french_be(who, tense, inverted=inverted_pronoun(who))
            ways.append([*begin, *([] if is_pronoun(who) else who.words), *turned, *rest])
        return ways

    short = dice.chance(0.7)
    if asked:
        verb: Words = [(english_be(subject, tense), 80), *subject.english]
        verb += [("be", 80)] if tense == "future" else []
        verb = [*([("why", WH)] if why else []), *verb]
    else:
        verb = [
            *subject.english,
            *english_be_words(subject, tense, "not" if negated else "", short),
        ]
    phrases = [subject] if compared is None else [subject, compared]
    combinations = [(noun.name, meeting)] if subject.noun else []
    words = [*verb, *english, *((w, TAIL) for w in place.split())]
    return Draft(words, phrases, french, ["speech"], combinations, 2, "?" if asked else ".")


def there(dice: Dice) -> Draft:
    """There isn't any bread in the kitchen. Were there a lot of people? Is there a bank near here?"""
    kind = dice.pick(
        (
            *(
                "place",
                "animal",
                "thing",
                "eaten",
                "drunk",
                "relative",
                "person",
                "vehicle",
                "snack",
            ),
            *("named", "carried"),
        )
    )
    chance, asked = dice.random(), dice.chance(0.25)
    negated = not asked and dice.chance(0.25)
    if kind in ("eaten", "drunk") or (negated and chance < 0.5):
        determiner = "some"
    else:
        determiner = "a" if chance < 0.4 else "two" if chance < 0.55 else "some"
    kind = f"{kind}1" if determiner == "a" else kind
    thing = draw(dice, f"{determiner}:{kind}", 2, negated=negated or asked)
    tense = dice.pick(("present", "present", "present", "past", "future"))
    one, many, has = THERE[tense]
    plural = not thing.third
    verb = many if plural else one
    around = PLACES_OF_THINGS if kind not in ("place", "vehicle") else AROUND
    where, place = dice.pick(around) if dice.chance(0.6) else ("", "")
    lieu = [(word, TAIL) for word in place.split()]

    def french(what: Reading) -> Variants:
        if asked:
            turned = {"a": "a-t-il", "avait": "avait-il", "aura": "aura-t-il"}[has]
            return [
                [("y", 80), (turned, 80), *what.words, *lieu],
                [("est-ce", 80), ("que", 80), ("il", 80), ("y", 80), (has, 80), *what.words, *lieu],
            ]
        said = ["il", "ne", "y", has, "pas"] if negated else ["il", "y", has]
        return [[*((w, 80) for w in said), *(what.negated if negated else what.words), *lieu]]

    first, *rest = verb.split()
    negation = {"is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "will": "won't"}
    if asked:
        english: Words = [(first, 80), ("there", 80), *((w, 80) for w in rest)]
    else:
        english = [
            ("there", 80),
            (negation[first] if negated else first, 80),
            *((w, 80) for w in rest),
        ]
    english += [*thing.english, *((word, TAIL) for word in where.split())]
    assert thing.noun is not None
    combinations = [("there", thing.noun.name)]
    return Draft(english, [thing], french, ["speech"], combinations, 2, "?" if asked else ".")
