// What the figure "mask-predict, pass by pass" computes. A film is one translation, of one length and in so many
// passes; its frames say what stands there after each pass, how probable each piece was, and which were written.

/** The numbers of passes, and the lengths, that there are films of; the most probable length first. */
export function offered(films) {
  const passes = [...new Set(films.map((film) => film.passes))].sort((a, b) => a - b);
  const likely = [...films].sort((a, b) => b.prob - a.prob);
  return { passes, lengths: [...new Set(likely.map((film) => film.length))] };
}

/** The film of a length and a number of passes. */
export function filmOf(films, length, passes) {
  return films.find((film) => film.length === length && film.passes === passes);
}

/** What changes when a number is chosen: no pass beyond the last. What must become smaller comes first, because the
 *  figure is drawn after each change. */
export function chosen(state, name, number) {
  if (name === "passes") return { step: Math.min(state.step, number - 1), passes: number };
  return { [name]: number };
}

/** How many pieces are guessed in pass t, from 0. */
export function gapsOf(length, t, passes) {
  return Math.floor((length * (passes - t)) / passes);
}

/** How many pieces all passes guess together. */
export function guessesOf(film) {
  return sum(film.frames.map((_, t) => gapsOf(film.length, t, film.passes)));
}

/** Which pieces are gaps before the next pass. */
export function nextGaps(film, step) {
  const next = film.frames[step + 1];
  return next ? next.written : film.frames[step].written.map(() => false);
}

/** Which pieces differ from the pass before; in the first pass none. */
export function changedOf(film, step) {
  const [now, before] = [film.frames[step], film.frames[Math.max(0, step - 1)]];
  return now.pieces.map((piece, j) => piece !== before.pieces[j]);
}

/** How many pieces repeat the one before. */
export function repeatsOf(pieces) {
  return pieces.filter((piece, j) => j > 0 && piece === pieces[j - 1]).length;
}

/** The mean log-probability of the last frame: by it the lengths are compared. */
export function meanOf(film) {
  const last = film.frames[film.passes - 1];
  return sum(last.probs.map(Math.log)) / film.length;
}

/** The length that wins with so many passes. */
export function winner(films, passes) {
  const rivals = films.filter((film) => film.passes === passes);
  return rivals[largest(rivals.map(meanOf))].length;
}

const verb = (number) => (number === 1 ? "is" : "are");

/** What this pass has done, in sentences. */
export function passSentence(state) {
  const { films, length, passes, step } = state;
  const film = filmOf(films, length, passes);
  const { pieces, written } = film.frames[step];
  const guessed = written.filter(Boolean).length;
  const changed = changedOf(film, step).filter(Boolean).length;
  const repeats = repeatsOf(pieces);
  const first = `Pass ${step} of 0 to ${passes - 1}: ${counted(guessed, "piece")} ${verb(guessed)} guessed`;
  const rest = step === 0 ? ", all of them at once." : `, ${changed} of them ${changed === 1 ? "has" : "have"} changed.`;
  const twice = repeats ? ` ${counted(repeats, "piece")} ${repeats === 1 ? "repeats" : "repeat"} the one before.` : "";
  return `${first}${rest}${twice}`;
}

/** What all passes cost, and which length wins, in sentences. */
export function endSentence(state) {
  const { films, length, passes } = state;
  const film = filmOf(films, length, passes);
  const best = winner(films, passes);
  const mean = `Mean log-probability after the last pass: ${digits(meanOf(film), 2)}`;
  const rivals = offered(films).lengths.length;
  const wins = length === best ? "the highest of the lengths" : `length ${best} has a higher one`;
  const passesText = `${passes} pass${passes === 1 ? "" : "es"}`;
  const cost = `${passesText} guess ${counted(guessesOf(film), "piece")} in all, for ${counted(length, "piece")}. `;
  return cost + mean + (rivals > 1 ? `; ${wins}.` : ".");
}
