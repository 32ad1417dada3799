"""What can happen in a story (chapter 12).

Each event is a function of the world and of who does it. It tells a sentence, changes the world and says
True, or it says False if it cannot happen now. The rules that make every pronoun clear:

- he, she: the person who did something in the sentence before, if no other man or woman was in it.
- him, her: the other one of the sentence before, if one is a man and one a woman.
- it, before a verb of going or doing: the animal; there is one in a story.
- it, lost, given, kept …: the one thing that the person has; nobody has two.
- they: the two who went somewhere together in the sentence before.
- there: where the person is.
"""

from collections.abc import Callable

from transformer_course.corpus.stories import patterns
from transformer_course.corpus.stories.templates import Phrase, Template
from transformer_course.corpus.stories.world import Actor, Item, Meeting, Named, Site, World

Event = Callable[[World, Actor], bool]


def destination(world: World, actor: Actor) -> Site:
    """Another place; half of the time one where somebody or something is."""
    chosen = world.dice.pick(world.sites)
    if world.dice.chance(0.6):
        chosen = world.dice.pick(world.actors).site
        if world.items and actor.item is None and world.dice.chance(0.5):
            chosen = world.dice.pick(world.items).site or chosen
    while chosen is actor.site:
        chosen = world.dice.pick(world.sites)
    return chosen


def go(world: World, actor: Actor) -> bool:
    """Anna went to the market; went back, if she has been there."""
    site = destination(world, actor)
    template = patterns.WENT_BACK if site in actor.been else patterns.WENT
    world.say(template, (world.subject(actor), site.place.to), (actor, site))
    world.move(actor, site)
    world.clear(actor)
    return True


def follow(world: World, actor: Actor) -> bool:
    """The dog followed Anna to the market."""
    people = [a for a in world.actors if a.site is actor.site and not a.being.animal]
    if not actor.being.animal or not people:
        return False
    leader = world.dice.pick(people)
    site = destination(world, actor)
    phrases = (world.subject(actor), leader.being.phrase, site.place.to)
    world.say(patterns.FOLLOWED, phrases, (actor, leader, site))
    world.move(actor, site)
    world.move(leader, site)
    world.clear(actor)
    return True


def go_together(world: World, actor: Actor) -> bool:
    """Anna and Clara went to the park together."""
    other = companion(world, actor)
    if other is None:
        return False
    site = destination(world, actor)
    phrases = (actor.being.first, other.being.phrase, both(actor, other), site.place.to)
    world.say(patterns.WENT_TOGETHER, phrases, (actor, other, world.couple, site))
    world.move(actor, site)
    world.move(other, site)
    world.clear(None)
    world.two = (actor, other)
    return True


def they_go(world: World, actor: Actor) -> bool:
    """They went to the park: the two of the sentence before."""
    if world.two is None or world.last is not None:
        return False
    one, other = world.two
    site = destination(world, one)
    couple = Named(f"{one.name} and {other.name}", one.at)
    world.say(patterns.THEY_WENT, (both(one, other), site.place.to), (couple, site))
    world.move(one, site)
    world.move(other, site)
    world.two = (one, other)
    return True


def both(one: Actor, other: Actor) -> Phrase:
    """A phrase with the gender of two people."""
    return one.being.phrase if one.being.gender == "m" else other.being.phrase


def companion(world: World, actor: Actor) -> Actor | None:
    """Somebody else at the same place, if actor is a person and there is one."""
    if actor.being.animal:
        return None
    others = [
        a for a in world.actors if a.site is actor.site and a is not actor and not a.being.animal
    ]
    return world.dice.pick(others) if others else None


def meet(world: World, actor: Actor) -> bool:
    """Anna met Paul at the market; each pair meets once."""
    other = companion(world, actor)
    if other is None or any(m.friend is other for m in actor.meetings):
        return False
    return meeting(world, actor, other)


def meeting(world: World, actor: Actor, other: Actor) -> bool:
    """Tell that they met, and remember it."""
    phrases = (world.subject(actor), other.being.phrase, world.here(actor))
    before = actor.at
    _, friend_at, place_at = world.say(patterns.MET, phrases, (actor, other, actor.site))
    if phrases[2].pronoun:
        place_at = actor.site.at
    mine = actor.at if actor.at != before else before
    actor.meetings.append(Meeting(other, friend_at, actor.site, place_at))
    other.meetings.append(Meeting(actor, mine, actor.site, place_at))
    world.clear(actor, other)
    world.two = (actor, other)
    return True
