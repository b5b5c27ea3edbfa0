// The JavaScript A2A SDK: the card, its signature, a pass, a fail and a problem by SendMessage.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Role, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { CASES, URL_OF_SERVICE } from './expected.mjs';

const card = await new DefaultAgentCardResolver().resolve(URL_OF_SERVICE);
assert.ok(card.supportedInterfaces.length > 0);
const { keys } = await (await fetch(`${URL_OF_SERVICE}/.well-known/jwks.json`)).json();
const verify = verifyAgentCardSignature(async (kid) => keys.find((key) => key.kid === kid));
await verify(card);
await assert.rejects(verify({ ...card, name: `${card.name}!` }), 'a card of another name was accepted');

const client = await new ClientFactory().createFromAgentCard(card);
for (const [name, request] of Object.entries(CASES)) {
  const contents = [{ $case: 'text', value: JSON.stringify(request) }, { $case: 'data', value: request }];
  for (const content of contents) {
    const task = await client.sendMessage({
      tenant: '',
      message: {
        messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, metadata: undefined, extensions: [],
        referenceTaskIds: [], parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
      },
      configuration: undefined,
      metadata: undefined,
    });
    if (name === 'problem') {
      assert.equal(task.status.state, TaskState.TASK_STATE_REJECTED);
      const [{ content: problem }] = task.status.message.parts;
      assert.equal(problem.value.code, 'invalid_request');
    } else {
      assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
      const [data, text] = task.artifacts[0].parts.map((part) => part.content);
      assert.equal(data.value.result, name);
      assert.deepEqual(JSON.parse(text.value), data.value);
    }
  }
}
