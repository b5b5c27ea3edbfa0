// @modelcontextprotocol/client: the current line of the TypeScript SDK, which negotiates the era.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { MCP, checkClient } from './expected.mjs';

const client = new Client({ name: 'client-of-tests', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL(MCP)));
assert.equal(client.getServerVersion().name, 'countersign');
assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
await checkClient(client);
await client.close();
