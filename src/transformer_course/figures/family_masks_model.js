// What the figure "who sees whom in four families" computes. True = may attend, as in the whole course; null: there
// is no attention from this token to that one. `start` is the place of the token after which the answer begins.

const FAMILIES = ["encoder\u2013decoder", "encoder only", "decoder only", "prefix"];
const [BOTH, ENCODER, DECODER, PREFIX] = FAMILIES;
const OBJECTIVES = ["next", "hidden"];
const ASKED = "[MASK]";
const MADE_FOR = {
  [BOTH]: "to translate: it reads the source both ways, and guesses the next token of the target",
  [ENCODER]: "to guess hidden tokens from both sides, as BERT does",
  [DECODER]: "to guess the next token, as GPT does",
  [PREFIX]: "to guess the next token, after a prompt that is read both ways",
};

/** What the model reads: all tokens, with a sign in the place of those that are hidden. */
export function readOf({ tokens, objective, hidden }) {
  return tokens.map((token, i) => (objective === "hidden" && hidden.includes(i) ? ASKED : token));
}

/** What each token must guess: the word, and where it stands among what is read (-1: nowhere); null: nothing. */
export function guessesOf({ tokens, family, objective, hidden, start, end }) {
  return tokens.map((token, i) => {
    if (family === BOTH && i < start) return null; // an encoder has no output
    if (objective === "hidden") return hidden.includes(i) ? { word: token, at: -1 } : null;
    if (family === PREFIX && i < start) return null; // of a prompt nothing is guessed
    return i + 1 < tokens.length ? { word: tokens[i + 1], at: i + 1 } : { word: end, at: -1 };
  });
}

/** Who may see whom in one layer, [query][key]; `spared`: the square of each answer is hidden, and no other. */
export function maskOf(state) {
  const { tokens, family, start, spared } = state;
  const guesses = guessesOf(state);
  const open = (q, k) => {
    if (family === BOTH && q < start) return k < start ? true : null;
    if (family === ENCODER) return true;
    return k <= q || (family === PREFIX && k <= start);
  };
  return tokens.map((_, q) => tokens.map((_, k) => (spared && guesses[q]?.at === k ? false : open(q, k))));
}

/** Of which tokens something arrives at each token after so many layers, [query][key]. */
export function reachOf(mask, layers) {
  const all = mask.map((_, i) => i);
  let known = all.map((i) => all.map((j) => i === j)); // a token knows itself: the residual connection keeps it
  for (let layer = 0; layer < layers; layer += 1) {
    known = known.map((row, i) => row.map((has, j) => has || all.some((k) => mask[i][k] && known[k][j])));
  }
  return known;
}

/** Everything at once. `leaks`: guesses whose answer arrives; `ahead`: guesses at which later words arrive that
 *  aren't written yet; `blind`: for each guess the tokens of which it could use something, and gets nothing. */
export function judged(state) {
  const [reads, guesses, mask] = [readOf(state), guessesOf(state), maskOf(state)];
  const reach = reachOf(mask, state.layers);
  const next = state.objective === "next";
  const places = reads.map((_, i) => i);
  const guessing = places.filter((i) => guesses[i]);
  const leaks = guessing.filter((i) => guesses[i].at >= 0 && reach[i][guesses[i].at]);
  const ahead = guessing.filter((i) => next && reach[i].some((has, j) => has && j > i && j !== guesses[i].at));
  const blind = places.map((i) => places.filter((j) => guesses[i] && !reach[i][j] && (next ? j < i : j !== i)));
  return { reads, guesses, mask, reach, guessing, leaks, ahead, blind };
}

/** Whether an objective fits: nothing arrives that must not, and everything else does. */
export function fits({ leaks, ahead, blind }) {
  return !leaks.length && !ahead.length && !blind.flat().length;
}

/** Words with commas between them. */
function listed(places, words) {
  return places.map((i) => words[i]).join(", ");
}

/** What one token sees, and whether it sees what it must guess. */
export function seenBy(state, i) {
  const { reads, guesses, mask, reach } = judged(state);
  const { family, objective, start } = state;
  const seen = reads.map((_, k) => k).filter((k) => mask[i][k]);
  const own = seen.filter((k) => family !== BOTH || i < start || k >= start);
  const across = seen.filter((k) => !own.includes(k));
  let text = `\u201c${reads[i]}\u201d sees ${listed(own, reads)}`;
  text += across.length ? `, and by cross-attention ${listed(across, reads)}. ` : ". ";
  const guess = guesses[i];
  if (!guess) {
    if (family === BOTH && i < start) return `${text}In the encoder nothing is guessed.`;
    return `${text}${objective === "next" ? "In the prompt" : "Where nothing is hidden,"} nothing is guessed.`;
  }
  text += `It must guess \u201c${guess.word}\u201d, `;
  if (guess.at < 0) return `${text}which isn\u2019t among what is read.`;
  if (mask[i][guess.at]) return `${text}and sees it: a leak.`;
  if (!reach[i][guess.at]) return `${text}which it can\u2019t see.`;
  const through = seen.find((k) => k !== i && mask[k][guess.at]);
  return `${text}and hears of it from \u201c${reads[through]}\u201d, which sees it: a leak in two layers.`;
}

/** Whether this objective fits this family, and if not, what goes wrong: a few words, and the rest. */
export function verdictOf(state) {
  const now = judged(state);
  const { reads, guesses, mask, guessing, leaks, ahead, blind } = now;
  const of = (some) => `${some.length} of ${guessing.length} ${guessing.length === 1 ? "guess" : "guesses"}`;
  if (leaks.length) {
    const direct = leaks.some((i) => mask[i][guesses[i].at]);
    const how = direct ? "is in sight" : "arrives in two layers, by way of another token";
    return ["Leak:", `for ${of(leaks)} the answer ${how}. The model learns to copy, not to guess.`];
  }
  if (ahead.length) {
    const when = "When the model writes, those aren\u2019t there yet.";
    return ["No answer arrives, but", `for ${of(ahead)} later words do. ${when}`];
  }
  if (fits(now)) return ["It fits:", "no answer leaks, and each guess uses all that it may."];
  const short = guessing.filter((i) => blind[i].length);
  const [i] = short;
  const part = `${reads[i]} for \u201c${guesses[i].word}\u201d hears nothing of ${listed(blind[i], reads)}`;
  return ["No leak, but", `${of(short)} must do with a part of the tokens: ${part}.`];
}
