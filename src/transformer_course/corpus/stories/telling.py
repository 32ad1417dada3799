"""How a story is told: who is in it, what happens next (chapter 12)."""

from collections.abc import Collection

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.stories import events, patterns
from transformer_course.corpus.stories.cast import ANIMALS, PEOPLE, PLACES, THINGS, Being
from transformer_course.corpus.stories.endings import NOBODY, NOTHING, questions, summary
from transformer_course.corpus.stories.labels import Question, Story
from transformer_course.corpus.stories.world import Actor, Item, Meeting, Site, World


def different(dice: Dice, items: tuple[Being, ...], found: list[Being], n: int) -> None:
    """Add n different ones."""
    while n:
        chosen = dice.pick(items)
        if chosen not in found:
            found.append(chosen)
            n -= 1


def assemble(dice: Dice, split: str, n: int) -> World:
    """The people, the animal, the things and the places of a story of n sentences."""
    world = World(dice, split)
    beings: list[Being] = []
    for _ in range(3 + n // 12):
        different(dice, PEOPLE[dice.pick("fm")], beings, 1)
    first = beings[0]
    while not first.fits[split]:
        first = beings[0] = dice.pick(PEOPLE[first.gender])
    things = [dice.pick(first.fits[split])]  # what makes it a story of this split
    while len(things) < len(beings) + 1:
        thing = dice.pick(THINGS)
        if thing not in things:
            things.append(thing)
    if dice.chance(0.7):
        beings.insert(
            1 + int(dice.random() * (len(beings) - 1)), dice.pick(ANIMALS[dice.pick("fm")])
        )
    world.waiting = [Actor(being) for being in beings]
    world.unseen = [Item(thing) for thing in things]
    while len(world.sites) < 4 + n // 12:
        place = dice.pick(PLACES)
        if all(site.place is not place for site in world.sites):
            world.sites.append(Site(place))
    return world


def introduce(world: World, n: int) -> None:
    """Say where somebody was and what they had; some then sleep for a while."""
    dice = world.dice
    actor, site = world.waiting.pop(0), dice.pick(world.sites)
    item = world.unseen[0] if world.unseen and not actor.being.animal else None
    number = len(world.pairs)
    world.actors.append(actor)
    if item is not None and world.fits(actor, item) and (number == 0 or dice.chance(0.8)):
        phrases = (actor.being.first, item.thing.a, site.place.there)
        world.say(patterns.WAS_HAD, phrases, (actor, item, site))
        world.receive(actor, world.unseen.pop(0))
        world.items.append(item)
        if dice.chance(0.7) and number + 2 < n:
            actor.wakes = number + 2 + int(dice.random() * (n - number - 2))
    else:
        world.say(patterns.WAS, (actor.being.first, site.place.there), (actor, site))
    world.move(actor, site)
    world.clear(actor)
    if number == 0:
        world.beginning = Meeting(actor, site.at, site, site.at, 0)
        world.beginning.name = site.name


def there_was(world: World) -> None:
    """There was a key in the kitchen."""
    item, site = world.unseen[0], world.dice.pick(world.sites)
    if world.fits(item, site):
        world.say(patterns.THERE_WAS, (item.thing.a, site.place.there), (item, site))
        world.lay(world.unseen.pop(0), site)
        world.items.append(item)
        world.clear(None)


def step(world: World, n: int) -> None:
    """Tell the next sentence; at times none, and the next call tries again."""
    number, dice = len(world.pairs), world.dice
    for actor in world.actors:
        if actor.wakes == number and dice.pick(events.WAKING)(world, actor):
            return None
    if world.waiting and (number < 2 or dice.chance(0.3)):
        return introduce(world, n)
    if world.unseen and dice.chance(0.15):
        return there_was(world)
    if world.two is not None and dice.chance(0.1) and events.they_go(world, world.two[0]):
        return None
    actor = world.last if world.last and dice.chance(0.5) else dice.pick(world.actors)
    if world.two is not None and dice.chance(0.5):
        actor = dice.pick(world.two)
        event: events.Event = events.pass_on
    else:
        event = dice.pick(events.URN)
    if actor.wakes <= number or all(a.wakes > number for a in world.actors):
        event(world, actor)
    return None


def tell(dice: Dice, split: str, n: int) -> Story:
    """One story of n sentences."""
    world = assemble(dice, split, n)
    while len(world.pairs) < n:
        step(world, n)
    return Story(
        tuple(world.pairs),
        tuple(world.mentions),
        summary(world),
        questions(world),
        tuple(dict.fromkeys(world.combinations)),
    )


def tell_and_ask(
    dice: Dice, split: str, n: int, every: int, kinds: Collection[str], once: bool
) -> list[Pair | Question]:
    """One story of n sentences, with a question about what was said so far after each `every` of them."""
    world = assemble(dice, split, n)
    told: list[Pair | Question] = []
    said: set[tuple[Pair, Pair]] = set()
    while len(world.pairs) < n:
        before = len(world.pairs)
        step(world, n)
        told += world.pairs[before:]
        if len(world.pairs) // every > before // every:
            asked = [q for q in questions(world) if q.kind in kinds]
            question = _a_question(dice, [q for q in asked if (q.question, q.answer) not in said])
            if question is not None:
                told.append(question)
                said |= {(question.question, question.answer)} if once else set()
    return told


def _a_question(dice: Dice, some: list[Question]) -> Question | None:
    """Half of the time one of the three that reach furthest back: most things happened not long ago.

    No answer is "nothing" or "nobody": that would be a good guess.
    """
    some = [question for question in some if question.answer not in (NOTHING, NOBODY)]
    if not some:
        return None
    far = sorted(some, key=lambda question: -question.distance)[:3]
    return dice.pick(tuple(far if dice.chance(0.5) else some))
