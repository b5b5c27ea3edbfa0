// What every client must get: the two tools, a pass, a fail and a problem (cases.json).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const URL_OF_SERVICE = process.env.COUNTERSIGN_URL;
export const MCP = `${URL_OF_SERVICE}/mcp`;
export const CASES = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url)));
export const TOOLS = ['verify_schema', 'get_verification_record'];

/** Lists the tools and runs the cases through a connected client of either TypeScript SDK. */
export async function checkClient(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  for (const [name, request] of Object.entries(CASES)) {
    checkAnswer(name, await client.callTool({ name: 'verify_schema', arguments: request }));
  }
  const record = await client.callTool({ name: 'get_verification_record', arguments: { agent_id: 'nobody' } });
  assert.equal(record.structuredContent.reason, 'no_data');
}

export function checkAnswer(name, result) {
  assert.equal(result.content.length, 1);
  const answer = JSON.parse(result.content[0].text);
  assert.deepEqual(result.structuredContent, answer, `${name}: text and structured content differ`);
  assert.equal(result.isError ?? false, name === 'problem', `${name}: isError`);
  if (name === 'problem') {
    assert.equal(answer.code, 'invalid_request');
    assert.equal(answer.fields[0].field, 'rules[0]');
  } else {
    assert.equal(answer.result, name);
    assert.equal(answer.task_id, CASES[name].task_id);
  }
}
