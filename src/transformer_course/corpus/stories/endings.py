"""What is asked and said when a story is over: the summary, questions with answers (chapter 12)."""

from functools import cache

from transformer_course.corpus.grammar.spelling import vowel_sound
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.stories import patterns
from transformer_course.corpus.stories.cast import capital
from transformer_course.corpus.stories.labels import Question
from transformer_course.corpus.stories.templates import SHAPES, Phrase, Template, phrase
from transformer_course.corpus.stories.world import Actor, Item, World

ANSWER = Template("S", "{S} .", "{S} .")
NOTHING = Pair("Nothing.", ("Rien.",), (), ((0, 0), (1, 1)))
NOBODY = Pair("Nobody.", ("Personne.",), (), ((0, 0), (1, 1)))
BEGAN = Pair(
    "Where did the story begin?",
    ("Où l'histoire a-t-elle commencé ?", "Où est-ce que l'histoire a commencé ?"),
    (),
    ((0, 0), (1, 2), (2, 1), (3, 1), (4, 2), (4, 3), (5, 4)),
)
ASKED = {
    "where": Template("S", "Where:1 is:2 {S} ?", "Où:1 est:2 {S} ?"),
    "who": Template("S", "Who:1 has:2 {S} ?", "Qui:1 a:2 {S} ?"),
    "what": Template("S", "What:1 does:1 {S} have:2 ?", "Qu'est-ce:1 {S} a:2 ?"),
    "first met": Template(
        "S",
        "Who:1 did:1 {S} meet:2 first:3 ?",
        "Qui:1 est-ce:1 {S} a:2 rencontré:2 en:3 premier:3 ?",
    ),
}


def summary(world: World) -> tuple[Pair, ...]:
    """Where each person and animal is at the end, and what they have."""
    pairs = []
    for actor in world.actors:
        there = actor.site.place.there
        if actor.item is None:
            phrases = (actor.being.first, there)
            pairs.append(patterns.IS_HAS_NOTHING.fill(phrases)[0])
        else:
            phrases3 = (actor.being.first, actor.item.thing.the, there)
            pairs.append(patterns.IS_HAS.fill(phrases3)[0])
    return tuple(pairs)


@cache
def answer(phrase: Phrase) -> Pair:
    """A phrase as an answer."""
    return ANSWER.fill((capital(phrase),))[0]


@cache
def asked(kind: str, about: Phrase) -> Pair:
    """A question about somebody or something.

    >>> asked("what", phrase("Anna", "Anna")).target
    "Qu'est-ce qu'Anna a ?"
    """
    if kind in ("what", "first met"):
        about = after_que(about)
    return ASKED[kind].fill((about,))[0]


def after_que(about: Phrase) -> Phrase:
    """The French phrase after que, which belongs to no English word."""
    french, shape = about.french, SHAPES[about.shape]
    if vowel_sound(french.split("'")[0].lower()):
        return phrase(about.english, "qu'" + french, shape.links, shape.gender)
    links = tuple((source, target + 1) for source, target in shape.links)
    return phrase(about.english, "que " + french, links, shape.gender)


def questions(world: World) -> tuple[Question, ...]:
    """All questions about the end of a story, and about how things began."""
    n = len(world.pairs)
    start = world.beginning.at[0]
    found = [Question("began", BEGAN, answer(world.beginning.site.place.there), start, n - start)]
    for actor in world.actors:
        found += about_actor(actor, n)
    for item in world.items:
        found += about_item(item, n)
    return tuple(found)


def about_actor(actor: Actor, n: int) -> list[Question]:
    """Where somebody is, what they have, whom they met first."""
    name = actor.being.phrase
    where = answer(actor.site.place.there)
    found = [Question("where", asked("where", name), where, actor.moved, n - actor.moved)]
    what = answer(actor.item.thing.the) if actor.item else NOTHING
    since = max(actor.changed, 0)
    found.append(Question("what", asked("what", name), what, since, n - since))
    if actor.meetings:
        first = actor.meetings[0]
        who = answer(first.friend.being.phrase)
        met = first.met
        found.append(Question("first met", asked("first met", name), who, met, n - met))
    return found


def about_item(item: Item, n: int) -> list[Question]:
    """Who has a thing, and where it is."""
    name, since = item.thing.the, item.changed
    who = answer(item.holder.being.phrase) if item.holder else NOBODY
    found = [Question("who", asked("who", name), who, since, n - since)]
    site = item.holder.site if item.holder else item.site
    if site is not None:
        since = max(since, item.holder.moved if item.holder else since)
        where = answer(site.place.there)
        found.append(Question("where thing", asked("where", name), where, since, n - since))
    return found
