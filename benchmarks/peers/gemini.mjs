// Drives gemini-cli's own grep and glob tools: one JSON request a line on stdin, one JSON answer a line on stdout.
// node gemini.mjs DIRECTORY-OF-THE-PACKAGE TREE
import { pathToFileURL } from "node:url";
import { createInterface } from "node:readline";
import path from "node:path";

const [, , home, tree] = process.argv;
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = () => {};
const load = (name) => import(pathToFileURL(path.join(home, "dist", "src", name)).href);
const { Config } = await load("config/config.js");
const { RipGrepTool } = await load("tools/ripGrep.js");
const { GlobTool } = await load("tools/glob.js");
const config = new Config({
  sessionId: "bench", targetDir: tree, cwd: tree, debugMode: false, model: "none", usageStatisticsEnabled: false,
});
const bus = { publish: async () => {}, subscribe: () => {}, unsubscribe: () => {} };
const tools = { contents: new RipGrepTool(config, bus), names: new GlobTool(config, bus) };
const given = {
  contents: (pattern) => ({ pattern, fixed_strings: true, case_sensitive: true, total_max_matches: 20000 }),
  names: (pattern) => ({ pattern, case_sensitive: true }),
};

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { kind, pattern } = JSON.parse(line);
  const began = performance.now();
  const result = await tools[kind].build(given[kind](pattern)).execute({ abortSignal: new AbortController().signal });
  const took = performance.now() - began;
  const said = String(result.llmContent);
  const found = Number((said.match(/Found (\d+)/) ?? [0, said.startsWith("No ") ? 0 : -1])[1]);
  process.stdout.write(JSON.stringify({ took, found, said: said.slice(0, 200), error: found < 0 }) + "\n");
}
process.exit(0);
