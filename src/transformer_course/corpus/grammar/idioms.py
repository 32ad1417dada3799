"""Where the two languages put it differently: avoir faim, avoir vingt ans, il y a, professions."""

from transformer_course.corpus.grammar.clauses import (
    HAVE,
    NEGATION,
    NEGATIVE,
    PREDICATE,
    VERB,
    english_be,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    ADJECTIVES,
    DESCRIBING,
    NOUN,
    PROFESSIONS,
    Noun,
    nouns_of,
)
from transformer_course.corpus.grammar.morphology import english_plural, french_plural
from transformer_course.corpus.grammar.numbers import english_number, french_number
from transformer_course.corpus.grammar.phrases import Dice, Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.sentences import (
    DIRECT,
    INTRANSITIVE,
    NEGATIONS,
    PEOPLE,
    PERSONAL,
    PLACES,
    agent,
    keyed,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.spelling import Word

IDIOMS = (
    ("hungry", "faim"),
    ("thirsty", "soif"),
    ("cold", "froid"),
    ("hot", "chaud"),
    ("afraid", "peur"),
    ("sleepy", "sommeil"),
    ("right", "raison"),
    ("wrong", "tort"),
)
HAVING = {
    "present": HAVE,
    "past": ("avais", "avais", "avait", "avions", "aviez", "avaient"),
    "future": ("aurai", "auras", "aura", "aurons", "aurez", "auront"),
}
ANIMATE = nouns_of("person animal")


def english_idiom(
    subject: Phrase, idiom: tuple[str, str], tense: str, negation: str, short: bool
) -> list[Word]:
    """is hungry."""
    return [*english_be_words(subject, tense, negation, short), (idiom[0], PREDICATE)]


def french_having(who: Reading, tense: str, negation: str) -> list[Word]:
    """avoir with its negation; the past is the imparfait."""
    words: list[Word] = [("ne", NEGATION)] if negation else []
    words.append((HAVING[tense][who.person], VERB))
    return [*words, (NEGATIVE[negation], NEGATION)] if negation else words


def french_idiom(who: Reading, idiom: tuple[str, str], tense: str, negation: str) -> list[Word]:
    """a faim."""
    return [*french_having(who, tense, negation), (idiom[1], PREDICATE)]


def someone(dice: Dice) -> Phrase:
    """A person, an animal or a pronoun."""
    if dice.chance(0.5):
        return pronoun(dice.pick(PERSONAL), 1)
    return agent(dice, dice.pick(ANIMATE))


def hungry(dice: Dice) -> Draft:
    """I am hungry: j'ai faim."""
    subject, idiom = someone(dice), dice.pick(IDIOMS)
    tense = dice.pick(("present", "present", "past", "future"))
    negation = dice.pick(NEGATIONS) if dice.chance(0.3) else ""

    def french(who: Reading) -> Variants:
        return [[*who.words, *french_idiom(who, idiom, tense, negation)]]

    english = [*subject.english, *english_idiom(subject, idiom, tense, negation, dice.chance(0.5))]
    combinations = [(subject.noun.name, idiom[0])] if subject.noun else []
    return Draft(english, [subject], french, ["avoir idiom"], combinations)


def age(dice: Dice) -> Draft:
    """My sister is twenty years old: ma sœur a vingt ans."""
    subject = someone(dice)
    years = 1 + int(dice.random() * 99)
    tense = dice.pick(("present", "present", "past", "future"))

    def french(who: Reading) -> Variants:
        number = french_number(years)
        spellings = {number: None, number.replace(" ", "-"): None}
        ans = ("an" if years == 1 else "ans", 96)
        return [
            [*who.words, (HAVING[tense][who.person], VERB), (spelling, 95), ans]
            for spelling in spellings
        ]

    words = [(english_number(years), 95), ("year" if years == 1 else "years", 96), ("old", 96)]
    english = [*subject.english, *english_be_words(subject, tense, "", False), *words]
    combinations = [(subject.noun.name, str(years))] if subject.noun else []
    return Draft(english, [subject], french, ["number", "avoir idiom"], combinations, 1)


def profession(dice: Dice) -> Draft:
    """I am a student: je suis étudiant, je suis étudiante."""
    english_name, masculine, feminine = dice.pick(PROFESSIONS)
    if dice.chance(0.75):
        subject = pronoun(dice.pick(PERSONAL), 1)
    else:
        family = dice.pick(nouns_of("family"))
        subject = noun_phrase(dice, family, 1, determiner=dice.pick(("my", "her", "his", "your")), adjectives=0)
    tense = dice.pick(("present", "present", "past", "future"))
    negation = dice.pick(NEGATIONS) if dice.chance(0.2) else ""
    plural = english_plural_subject(subject)
    names = {"m": masculine.split("/"), "f": feminine.split("/")}

    def french(who: Reading) -> Variants:
        verb_words = [*who.words, *french_be(who, tense, negation)]
        variants = []
        for name in names[who.gender]:
            variants.append([*verb_words, (french_plural(name) if who.plural else name, PREDICATE)])
        return variants

    if subject.english[0][0] == "you":
        plural = dice.chance(0.3)
        wanted = [r for r in subject.readings if r.plural == plural]
        subject = Phrase(subject.english, tuple(wanted), False, None, len(wanted), (), ("tu or vous",))
    noun = english_plural(english_name) if plural else english_name
    article = "an" if noun[0] in "aeiou" else "a"
    words: list[Word] = [] if plural else [(article, 0)]
    verb_words = english_be_words(subject, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, *words, (noun, PREDICATE)]
    combinations = [(subject.english[-1][0], english_name)]
    return Draft(english, [subject], french, ["profession"], combinations, 1)


def english_plural_subject(subject: Phrase) -> bool:
    """Whether the subject is more than one person."""
    return subject.english[0][0] in ("we", "they") or (subject.noun is not None and not subject.third)


def there_is(dice: Dice) -> Draft:
    """There are three birds in the garden: il y a trois oiseaux dans le jardin."""
    preposition, préposition, grounds, figures = dice.pick(PLACES)
    noun, ground = dice.pick(figures), dice.pick(grounds)
    while noun is ground:
        noun, ground = dice.pick(figures), dice.pick(grounds)
    tense = dice.pick(("present", "present", "past", "future"))
    negative = dice.chance(0.25)
    plural = not noun.mass and dice.chance(0.5)
    determiner = "a" if negative or not plural else dice.pick(("a", "number", "many"))
    if determiner == "number":
        determiner = str(2 + int(dice.random() * 20))
    thing = noun_phrase(dice, noun, 1, plural=plural, determiner=determiner, adjectives=0.2)
    what_there_is = thing.english
    if negative:  # no cat, no cats, no bread
        bare = thing.english[0][1] != 11
        what_there_is = [("no", NEGATION), *thing.english[0 if bare else 1 :]]
    where = noun_phrase(dice, ground, 2, determiner=dice.pick(("the", "the", "my", "this")))
    form = {"present": "a", "past": "avait", "future": "aura"}[tense]

    def french(what: Reading, place: Reading) -> Variants:
        words: list[Word] = [("il", 94)]
        words += [("ne", NEGATION)] if negative else []
        words += [("y", 94), (form, VERB)]
        words += [("pas", NEGATION), *what.negated] if negative else what.words
        return [[*words, *keyed(préposition, 86), *place.words]]

    be = english_be(thing, tense)
    verb_words: list[Word] = [(be, VERB), *([("be", VERB)] if tense == "future" else [])]
    english = [("there", 94), *verb_words, *what_there_is, (preposition, 86), *where.english]
    combinations = [(noun.name, ground.name)]
    return Draft(english, [thing, where], french, ["there is"], combinations)


COMPARING = (("plus", "more", "than"), ("moins", "less", "than"), ("aussi", "as", "as"))
COMPARED = tuple(a for a in ADJECTIVES if a.name not in ("dead", "French", "open", "closed", "empty"))
COMPARABLE = {
    adjective: tuple(noun for noun in ANIMATE + nouns_of("thing vehicle building way fruit")
                     if adjective in DESCRIBING[noun])
    for adjective in COMPARED
}
GRADED = tuple(adjective for adjective in COMPARED if len(COMPARABLE[adjective]) > 3)
STRESSED = {"me": ("moi",), "you": ("toi", "vous"), "him": ("lui",), "her": ("elle",), "us": ("nous",), "them": ("eux", "elles")}


def comparison(dice: Dice) -> Draft:
    """The cow is bigger than the dog: plus grande que le chien."""
    adjective = dice.pick(GRADED)
    first, second = dice.pick(COMPARABLE[adjective]), dice.pick(COMPARABLE[adjective])
    while second is first or kind(first) != kind(second):
        second, first = dice.pick(COMPARABLE[adjective]), dice.pick(COMPARABLE[adjective])
    degree = dice.pick(COMPARING)
    tense = dice.pick(("present", "present", "past"))
    negation = "not" if dice.chance(0.2) else ""
    personal = "person" in first.classes and dice.chance(0.5)
    subject = pronoun(dice.pick(PERSONAL), 1) if personal and dice.chance(0.6) else agent(dice, first, adjectives=0)
    other = stressed(dice, subject) if personal else agent(dice, second, 6, adjectives=0)

    def french(who: Reading, than: Reading) -> Variants:
        be = french_be(who, tense, negation)
        form = adjective.french[who.gender][who.plural]
        graded = [(degree[0], 87), (form, PREDICATE)]
        if degree[0] == "plus" and adjective.name in ("good", "bad"):
            graded = [(irregular(adjective.name, who), PREDICATE)]
        variants = [[*who.words, *be, *graded, ("que", 88), *than.words]]
        if degree[0] == "plus" and adjective.name == "bad":
            variants.append([*who.words, *be, ("plus", 87), (form, PREDICATE), ("que", 88), *than.words])
        if degree[0] == "aussi" and negation:  # pas si grand que
            variants.append([*who.words, *be, ("si ", 87), (form, PREDICATE), ("que", 88), *than.words])
        return variants

    be = english_be_words(subject, tense, negation, dice.chance(0.5))
    graded: list[Word] = [(degree[1], 87), (adjective.name, PREDICATE)]
    if degree[0] == "plus" and adjective.comparative:
        graded = [(adjective.comparative, PREDICATE)]
    english = [*subject.english, *be, *graded, (degree[2], 88), *other.english]
    combinations = [(phrase.noun.name, adjective.name) for phrase in (subject, other) if phrase.noun]
    return Draft(english, [subject, other], french, ["comparison"], combinations, 1)


def irregular(name: str, who: Reading) -> str:
    """meilleur and pire, in agreement."""
    form = ("meilleure" if who.gender == "f" else "meilleur") if name == "good" else "pire"
    return form + ("s" if who.plural else "")


def kind(noun: Noun) -> str:
    """The class within which nouns are compared."""
    return next((c for c in ("person", "animal", "clothing", "furniture", "readable", "vehicle", "way", "fruit") if c in noun.classes), "thing")


def stressed(dice: Dice, subject: Phrase) -> Phrase:
    """A pronoun after than: que moi, que lui."""
    same = {"i": ("me", "us"), "we": ("me", "us"), "you": ("you",), "he": ("him",), "she": ("her",), "they": ("them",)}
    word = subject.english[0][0]
    chosen = dice.pick(tuple(w for w in STRESSED if w not in same.get(word, ())))
    readings = []
    for stressed_word in STRESSED[chosen]:
        register = {"toi": "tu", "vous": "vous"}.get(stressed_word, "") if chosen == "you" else ""
        words = [(stressed_word, 64)]
        readings.append(Reading(words, 2, "m", False, words, register))
    return Phrase([(chosen, 64)], tuple(readings), True, None, len(readings))


def nobody(dice: Dice) -> Draft:
    """Nobody sees the cat: personne ne voit le chat."""
    if dice.chance(0.5):
        return sees_nobody(dice)
    nothing = dice.chance(0.3)
    falling = tuple(verb for verb in INTRANSITIVE if "object" in verb.subject)
    verb = dice.pick(falling) if nothing else dice.pick(DIRECT if dice.chance(0.7) else INTRANSITIVE)
    tense = tense_for(dice, verb)
    thing = object_of(dice, verb) if verb.object else Phrase([], (EMPTY,), True)
    word, mot = ("nothing", "rien") if nothing else ("nobody", "personne")
    subject = Phrase([(word, 14)], (Reading([(mot, 14)], 2, "m", False, []),), True)

    def french(who: Reading, what: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense)
        return [[*who.words, ("ne", 14), *verb_words, *what.negated]]

    english = [*subject.english, *english_verb(subject, verb, tense), *thing.english]
    combinations = verb_and_object(verb, thing) if verb.object else [(word, verb.name)]
    return Draft(english, [subject, thing], french, ["negation", "nobody and nothing"], combinations)


EMPTY = Reading([], 2, "m", False, [])


def sees_nobody(dice: Dice) -> Draft:
    """The king saw nobody: n'a vu personne; he ate nothing: n'a rien mangé."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb, pronouns=0.4)
    people = verb.object <= {"person", "animate", "animal"} or (verb.object & {"animate", "person"} and dice.chance(0.5))
    anyone = dice.chance(0.5)

    def french(who: Reading) -> Variants:
        if not people:
            return [[*who.words, *french_verb(who, verb, tense, negation="rien")]]
        words = french_verb(who, verb, tense)
        return [[*who.words, ("ne", NEGATION), *words, ("personne", NEGATION)]]

    if anyone:
        words = english_verb(subject, verb, tense, "not", dice.chance(0.6))
        words = [*words, ("anybody" if people else "anything", NEGATION)]
    else:
        words = [*english_verb(subject, verb, tense), ("nobody" if people else "nothing", NEGATION)]
    combinations = [(subject.noun.name if subject.noun else subject.english[0][0], verb.name)]
    return Draft([*subject.english, *words], [subject], french, ["negation", "nobody and nothing"], combinations)


OWNERS = PEOPLE
POSSESSIONS = nouns_of("animal family object clothing vehicle house garden shop farm idea question")
PARTS = (
    (nouns_of("door window wall garden"), nouns_of("building")),
    (nouns_of("king queen prince princess museum church street market"), nouns_of("town")),
    (nouns_of("leaf flower fruit"), nouns_of("tree garden park forest")),
    (nouns_of("letter answer picture"), nouns_of("person")),
)


def possession(dice: Dice) -> Draft:
    """The boy's dog sleeps: le chien du garçon; the door of the house."""
    genitive = dice.chance(0.6)
    if genitive:
        owner, thing = dice.pick(OWNERS), dice.pick(POSSESSIONS)
    else:
        things, owners = dice.pick(PARTS)
        owner, thing = dice.pick(owners), dice.pick(things)
    while thing is owner:
        owner = dice.pick(OWNERS)
    whose = noun_phrase(dice, owner, 6, determiner=dice.pick(("the", "the", "my", "this")), plural=None, adjectives=0)
    what = noun_phrase(dice, thing, 1, determiner="the", adjectives=0.15)
    adjective = dice.pick(DESCRIBING[thing])
    tense = dice.pick(("present", "present", "past"))

    def french(of: Reading, who: Reading) -> Variants:
        be = [*french_be(who, tense), (adjective.french[who.gender][who.plural], PREDICATE)]
        return [[*who.words, ("de+", 65), *of.words, *be]]

    if genitive:
        name = whose.english[-1]
        plural = whose.readings[0].plural
        mark = "'" if plural and name[0].endswith("s") else "'s"
        words = [*whose.english[:-1], (name[0] + mark, name[1]), *what.english[1:]]
    else:
        words = [*what.english, ("of", 65), *whose.english]
    be = [*english_be_words(what, tense, "", False), (adjective.name, PREDICATE)]
    combinations = [(owner.name, thing.name), (thing.name, adjective.name)]
    return Draft([*words, *be], [whose, what], french, ["possession"], combinations)


HOURS = tuple(range(1, 13))
WEATHER = (("cold", "froid"), ("hot", "chaud"), ("late", ""), ("early", ""))


def expletive(dice: Dice) -> Draft:
    """It is three o'clock; it is cold; it is late."""
    when, quand = dice.pick((("", ""), ("today", "aujourd'hui"), ("here", "ici"), ("now", "maintenant")))
    tense = dice.pick(("present", "past", "future"))
    if when in ("today", "now", "here"):
        tense = "present"
    nothing = Phrase([("it", 14)], (Reading([("il", 14)], 2, "m", False, []),), True)
    what = dice.pick(("clock", "weather", "time"))
    if what == "clock":
        hour = dice.pick(HOURS)
        english_words = [(english_number(hour), 95), ("o'clock", 96)]
        said = [(BE_IMPERSONAL[tense], VERB), (french_number(hour, "f"), 95), ("heure" if hour == 1 else "heures", 96)]
        when = quand = ""
    elif what == "weather":
        english_name, name = dice.pick((("cold", "froid"), ("hot", "chaud"), ("dark", "nuit")))
        english_words = [(english_name, PREDICATE)]
        said = [({"present": "fait", "past": "faisait", "future": "fera"}[tense], VERB), (name, PREDICATE)]
    else:
        english_name, name = dice.pick((("late", "tard"), ("early", "tôt")))
        english_words = [(english_name, PREDICATE)]
        said = [(BE_IMPERSONAL[tense], VERB), (name, PREDICATE)]
        when = quand = ""
    degree = what != "clock" and english_words[0][0] != "dark" and dice.chance(0.4)
    if degree:
        english_words.insert(0, ("very", 87))
        said.insert(1, ("très", 87))

    def french(it: Reading) -> Variants:
        return [[*it.words, *said, *([(quand, 88)] if quand else [])]]

    english = [*nothing.english, *english_be_words(nothing, tense, "", False), *english_words]
    english += [(when, 88)] if when else []
    return Draft(english, [nothing], french, ["expletive it"], [])


BE_IMPERSONAL = {"present": "est", "past": "était", "future": "sera"}
