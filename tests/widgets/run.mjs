// Calls functions of the figures' scripts, without a browser, and tells what they return. The standard input says
// where the scripts are and which calls to make; see node.py.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { scripts, calls } = JSON.parse(readFileSync(0, "utf-8"));
const modules = {};
for (const [figure, path] of Object.entries(scripts)) modules[figure] = await import(pathToFileURL(path));

/** Arguments as they were meant: JSON knows no infinity, and no function. */
function meant(module, value) {
  if (Array.isArray(value)) return value.map((part) => meant(module, part));
  if (value === null || typeof value !== "object") return value;
  if ("$number" in value) return Number(value.$number);
  if ("$call" in value) return called(module, ...value.$call);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, meant(module, part)]));
}

function called(module, name, given) {
  const found = module[name];
  return typeof found === "function" ? found(...meant(module, given)) : found;
}

/** What a call returns; a function that it returns is called in its turn, once for each list in `then`. */
function result({ figure, name, args, then }) {
  try {
    const found = called(modules[figure], name, args);
    return then ? then.map((given) => found(...given)) : found;
  } catch (error) {
    return { $error: String(error) };
  }
}

const written = (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? { $number: String(value) } : value;
const exported = Object.fromEntries(Object.entries(modules).map(([figure, module]) => [figure, Object.keys(module)]));
console.log(JSON.stringify({ exported, results: calls.map((call) => result(call) ?? null) }, written));
