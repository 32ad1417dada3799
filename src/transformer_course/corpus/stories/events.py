"""What can happen in a story (chapter 12).

Each event is a function of the world and of who does it. It tells a sentence, changes the world and says
True, or it says False if it cannot happen now. The rules that make every pronoun clear:

- he, she: the person who did something in the sentence before, if no other man or woman was in it.
- him, her: the other one of the sentence before, if one is a man and one a woman.
- it, before a verb of going or doing: the animal; there is one in a story.
- it, lost, given, kept …: the one thing that the person has; nobody has two.
- they: the two people of the sentence before, who met, went somewhere together or passed something on.
- there: where the person is.
"""

from collections.abc import Callable

from transformer_course.corpus.stories import patterns
from transformer_course.corpus.stories.templates import Phrase
from transformer_course.corpus.stories.world import Actor, Meeting, Named, Site, World

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
    if world.two is None:
        return False
    one, other = world.two
    site = destination(world, one)
    couple = Named(f"{one.name} and {other.name}", one.at)
    world.say(patterns.THEY_WENT, (both(one, other), site.place.to), (couple, site))
    world.move(one, site)
    world.move(other, site)
    world.clear(None)
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
    world.say(patterns.MET, phrases, (actor, other, actor.site))
    friend_at, mine, place_at = other.at, actor.at, actor.site.at
    now = len(world.pairs) - 1
    actor.meetings.append(Meeting(other, friend_at, actor.site, place_at, now))
    other.meetings.append(Meeting(actor, mine, actor.site, place_at, now))
    world.clear(actor, other)
    world.two = (actor, other)
    return True


def take(world: World, actor: Actor) -> bool:
    """Anna took the key, or found it where it was lost or hidden."""
    items = [i for i in world.items if i.site is actor.site and world.fits(actor, i)]
    if actor.item is not None or not items:
        return False
    item = world.dice.pick(items)
    subject = world.subject(actor)
    if item.lost:
        phrases = (subject, item.thing.the, world.here(actor))
        world.say(patterns.FOUND, phrases, (actor, item, actor.site))
    else:
        world.say(patterns.TOOK, (subject, item.thing.the), (actor, item))
    world.receive(actor, item)
    world.clear(actor)
    return True


def put_away(world: World, actor: Actor) -> bool:
    """Anna lost, left or hid what she has."""
    item = actor.item
    if item is None or not world.fits(item, actor.site):
        return False
    kind = int(world.dice.random() * len(patterns.PUT_AWAY))
    phrases = (world.subject(actor), item.thing.the, world.here(actor))
    template = patterns.PUT_AWAY[kind][says_it(world, actor)]
    world.say(template, phrases, (actor, item, actor.site))
    world.lay(item, actor.site)
    item.lost = kind != 1
    world.clear(actor)
    return True


def says_it(world: World, actor: Actor) -> bool:
    """Whether "it" is said; always of who has slept, and never by an animal, which is "it" too."""
    if actor.being.animal:
        return False
    return actor.wakes == len(world.pairs) or world.dice.chance(0.75)


def keep(world: World, actor: Actor) -> bool:
    """Anna kept it because it was beautiful."""
    if actor.item is None or actor.item.kept or actor.being.animal:
        return False
    phrases = (world.subject(actor), actor.item.thing.the)
    world.say(world.dice.pick(patterns.KEPT), phrases, (actor, actor.item))
    actor.item.kept = True
    world.clear(actor)
    return True


def pass_on(world: World, actor: Actor) -> bool:
    """Anna gave, sold, showed, brought or sent what she has to somebody."""
    item = actor.item
    other = world.dice.pick(world.two if world.two and actor in world.two else world.actors)
    if item is None or other is actor or actor.being.animal or other.being.animal:
        return False
    near = other.site is actor.site
    ways = (
        (patterns.GAVE, patterns.SOLD, patterns.SHOWED)
        if near
        else (patterns.BROUGHT, patterns.SENT)
    )
    way = world.dice.pick(ways)
    if way is not patterns.SHOWED and (other.item is not None or not world.fits(other, item)):
        return False
    known = (
        world.two in ((actor, other), (other, actor)) and actor.being.gender != other.being.gender
    )
    subject = world.subject(actor)
    template = way[says_it(world, actor) + 2 * known]
    world.say(template, (subject, item.thing.the, other.being.phrase), (actor, item, other))
    if way is not patterns.SHOWED:
        world.receive(other, item)
    if way is patterns.BROUGHT:
        world.move(actor, other.site)
    world.clear(actor, other)
    world.two = (actor, other) if way is not patterns.SENT else None
    return True


def visit_first(world: World, actor: Actor) -> bool:
    """Anna visited the friend that she had met first."""
    if len(actor.meetings) < 2 or actor.meetings[0].friend.site is actor.site:
        return False
    first = actor.meetings[0]
    phrases = (world.subject(actor), first.friend.being.phrase)
    world.say(patterns.VISITED_FIRST, phrases, (actor, first))
    world.move(actor, first.friend.site)
    world.clear(actor, first.friend)
    return True


def go_to_beginning(world: World, actor: Actor) -> bool:
    """Anna went back to the place where the story had begun."""
    start = world.beginning
    if start.site is actor.site or start.site not in actor.been:
        return False
    world.say(
        patterns.BACK_TO_BEGINNING, (world.subject(actor), actor.being.phrase), (actor, start)
    )
    world.move(actor, start.site)
    world.clear(actor)
    return True


def go_to_meeting(world: World, actor: Actor) -> bool:
    """Anna went back to the place where she had met Paul."""
    found = [m for m in actor.meetings if m.site is not actor.site]
    if not found:
        return False
    old = world.dice.pick(found)
    place = Meeting(old.friend, old.place_at, old.site, old.place_at, old.met)
    place.name = old.site.name
    phrases = (world.subject(actor), old.friend.being.phrase, actor.being.phrase)
    world.say(patterns.BACK_TO_MEETING, phrases, (actor, old.friend, place))
    world.move(actor, old.site)
    world.clear(actor, old.friend)
    return True


URN: tuple[Event, ...] = (
    *([go] * 3 + [follow, go_together] + [meet] * 4 + [take] * 3 + [put_away] * 2),
    *([keep] + [pass_on] * 4 + [visit_first] * 6 + [go_to_meeting, go_to_beginning]),
)
WAKING: tuple[Event, ...] = (put_away, keep, pass_on)
