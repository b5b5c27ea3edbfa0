// @modelcontextprotocol/sdk: the first line of the TypeScript SDK. It checks structured content against the output
// schema on errors too, and throws -32602 where they do not meet.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MCP, checkClient } from './expected.mjs';

const client = new Client({ name: 'client-of-tests', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(MCP)));
assert.equal(client.getServerVersion().name, 'countersign');
await client.ping();
await checkClient(client);
await client.close();
