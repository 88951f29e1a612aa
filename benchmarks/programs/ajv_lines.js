// Validates each line of a file with ajv, in one process: node ajv_lines.js FOLDER SCHEMA LINES
// FOLDER is where ajv is installed.
const { createRequire } = require("module");
const fs = require("fs");
const readline = require("readline");

const [folder, schema, file] = process.argv.slice(2);
const installed = createRequire(folder + "/package.json");
const ajv = new (installed("ajv/dist/2020").default)({ strict: false });
installed("ajv-formats").default(ajv);
const validate = ajv.compile(JSON.parse(fs.readFileSync(schema, "utf8")));
let invalid = 0;
const lines = readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Infinity });
lines.on("line", (line) => {
  if (!validate(JSON.parse(line))) invalid += 1;
});
lines.on("close", () => {
  console.log(invalid, "invalid");
  process.exit(invalid ? 1 : 0);
});
