// What the figure "positions on the circle" computes.

/** How far one position turns the pair of a dimension, in radians. */
export function frequency(dimension, width) {
  return 10000 ** (-(2 * Math.floor(dimension / 2)) / width);
}

/** One number of the table. */
export function encode(position, dimension, width, amplitude) {
  const angle = position * frequency(dimension, width);
  return amplitude * (dimension % 2 ? Math.cos(angle) : Math.sin(angle));
}

/** Changes of the state, with a position that is in the table. */
export function inTable(state, changes) {
  const { length, position } = { ...state, ...changes };
  return { ...changes, position: clamp(position, 0, length - 1) };
}

/** Which position a key of the keyboard leads to; nothing for keys without a meaning. */
export function stepped({ position, length }, key) {
  const places = {
    ArrowLeft: position - 1,
    ArrowDown: position - 1,
    ArrowRight: position + 1,
    ArrowUp: position + 1,
    Home: 0,
    End: length - 1,
  };
  return places[key];
}

/** How far a point has been turned, after one more step: the shorter way round, and not out of the table. */
export function turned(total, from, to, most) {
  const step = to - from;
  return clamp(total + Math.atan2(Math.sin(step), Math.cos(step)), 0, most);
}

/** What the chosen dimension is. */
export function waveTitle(dimension, width) {
  const length = (2 * Math.PI) / frequency(dimension, width);
  return (
    `Dimension ${dimension}, a ${dimension % 2 ? "cosine" : "sine"}: ` +
    `a full wave takes ${digits(length, length < 100 ? 1 : 0)} positions`
  );
}

/** What there is to see, in sentences. */
export function sentence({ position, dimension, offset, amplitude }, width) {
  const turn = frequency(dimension, width);
  const pair = Math.floor(dimension / 2);
  const both = [0, 1].map((k) => encode(position, 2 * pair + k, width, amplitude));
  return (
    `Pair ${pair} turns by ${digits(turn, 4)} a position. At position ${position}: ` +
    `(sin, cos) = ${point(both, 3)}. From ${position} to ${position + offset}: ` +
    `a turn of ${digits(offset * turn, 3)}. ` +
    `The whole row has norm ${digits(amplitude * Math.sqrt(width / 2), 2)}; ` +
    `an embedding times \u221A${width} has about ${digits(Math.sqrt(width), 2)}.`
  );
}
