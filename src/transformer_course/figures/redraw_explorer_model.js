// What the figure "draw the test set again" computes.

const MOST = 5000; // draws
const FEWEST = 40; // draws that an interval needs: one in 40 is left out at each end
const LISTED = 12; // sentences that get a row each; of more, only how often they came up is counted
const PER_STEP = 8; // bars between two numbers of the axis

/** Random whole numbers from 0 to n - 1, the same ones for the same seed. */
export function randomPlaces(seed) {
  const random = randomNumbers(Math.imul(seed + 1, 0x9e3779b1));
  return (n) => Math.floor(random() * n);
}

/** One draw: as many sentences as there are, each put back. How often each came up, and the two sums. */
export function redraw({ found, total }, place) {
  const drawn = { times: found.map(() => 0), found: 0, total: 0 };
  for (let left = found.length; left > 0; left -= 1) {
    const i = place(found.length);
    drawn.times[i] += 1;
    drawn.found += found[i];
    drawn.total += total[i];
  }
  return drawn;
}

/** The scores in order, how many are left out at each end, and the ends of the rest. */
export function interval(scores) {
  const sorted = [...scores].sort((a, b) => a - b);
  const k = Math.floor(scores.length / 40);
  return { sorted, k, low: sorted[k], high: sorted[sorted.length - 1 - k] };
}

/** 1, 2 or 5 times a power of ten: the smallest one that is not below the number. */
export function roundStep(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].find((m) => m * power >= number * (1 - 1e-9)) * power;
}

/** The axis of a set. It stays the same, whatever is drawn. */
export function axisOf({ found, total }) {
  const score = sum(found) / sum(total);
  const own = found.map((f, i) => f / total[i]);
  const error = Math.sqrt(sum(found.map((f, i) => (f - score * total[i]) ** 2))) / sum(total);
  const few = found.length <= LISTED; // then a draw of one sentence, again and again, does happen
  let [low, high] = few ? [Math.min(...own), Math.max(...own)] : [score - 4 * error, score + 4 * error];
  if (high - low < 1e-6) [low, high] = [score - 0.05, score + 0.05]; // all sentences are alike
  [low, high] = [Math.max(0, low), Math.min(1, high)];
  const step = roundStep((high - low) / 5);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { ticks, places: Math.max(1, -Math.floor(Math.log10(step))), low: first * step, high: last * step };
}

/** For each bar: the scores that stay, and those that are left out. */
export function barsOf(axis, scores, marked) {
  const count = PER_STEP * (axis.ticks.length - 1);
  const bars = Array.from({ length: count }, () => [0, 0]);
  const { sorted, k } = interval(scores);
  sorted.forEach((score, i) => {
    const place = Math.floor(((score - axis.low) / (axis.high - axis.low)) * count + 1e-9);
    const out = marked && (i < k || i >= sorted.length - k);
    bars[clamp(place, 0, count - 1)][out ? 1 : 0] += 1;
  });
  return bars;
}

/** How high the drawing reaches: a round number of draws. */
export function ceiling(highest) {
  if (highest <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].find((m) => m * power >= highest) * power;
}

/** A score as a fraction and as a number. */
export function fraction({ found, total }) {
  return `${found}/${total} = ${digits(found / total, 3)}`;
}

/** The middle 95 % of the scores, once there are enough of them. */
export function middleOf(scores) {
  return scores.length >= FEWEST ? interval(scores) : null;
}

/** How many sentences came up 0 times, once, twice, and more often. */
export function howOften(times) {
  return [0, 1, 2].map((n) => times.filter((t) => t === n).length).concat(times.filter((t) => t > 2).length);
}

/** All draws of a set with this seed: their scores, and the last one. What `kept` holds isn't drawn again. */
export function drawsOf(sets, { chosen, seed, draws }, kept) {
  const count = Math.min(MOST, draws);
  const same = kept?.chosen === chosen && kept.seed === seed && kept.scores.length <= count;
  const all = same ? kept : { chosen, seed, place: randomPlaces(seed), scores: [], last: null };
  while (all.scores.length < count) {
    all.last = redraw(sets[chosen], all.place);
    all.scores.push(all.last.found / all.last.total);
  }
  return all;
}

/** What there is to see, in a sentence. */
export function sentence({ found }, scores) {
  const middle = middleOf(scores);
  const n = found.length;
  if (!scores.length) return `Nothing is drawn yet. A draw takes ${counted(n, "sentence")} out of ${n.toLocaleString("en")}, and each is put back before the next.`;
  const draws = counted(scores.length, "draw");
  if (!middle) {
    const [low, high] = [Math.min(...scores), Math.max(...scores)].map((score) => digits(score, 3));
    const reach = low === high ? `a score of ${low}` : `scores from ${low} to ${high}`;
    return `${draws}: ${reach}. From ${FEWEST} draws on, you see the middle 95 %.`;
  }
  const [low, high] = [middle.low, middle.high].map((score) => digits(score, 3));
  const points = digits(100 * (Number(high) - Number(low)), 1); // as a reader would subtract them
  const left = `${counted(middle.k, "score")} ${middle.k === 1 ? "is" : "are"} left out at each end (grey).`;
  return `${draws}: the middle 95 % reach from ${low} to ${high}, ${points} points. ${left}`;
}
