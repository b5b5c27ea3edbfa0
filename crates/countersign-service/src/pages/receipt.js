// Checks the signature of the receipt that this page shows, in the browser and with the keys that this site lists.
// The page says the same without it.

const CONTEXT = 'json-schema-verifier/verify-schema-attestation/v1';
const EXTENSION = 'urn:json-schema-verifier:extension:attestation:';

const place = document.getElementById('signature');

function say(outcome, text) {
  place.dataset.outcome = outcome;
  place.textContent = text;
}

// RFC 8785: names sorted by UTF-16 code units, which is how JavaScript compares; numbers and strings as
// JSON.stringify writes them.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join()}}`;
}

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function listedKey(version) {
  const card = await (await fetch('../.well-known/agent-card.json')).json();
  const extension = card.capabilities.extensions.find((one) => one.uri.startsWith(EXTENSION));
  return extension.params.publicKeys.find((key) => key.keyVersion === version);
}

async function importKey(listed) {
  try {
    return await crypto.subtle.importKey('raw', bytes(listed.publicKey), 'Ed25519', false, ['verify']);
  } catch {
    return undefined;
  }
}

async function check() {
  if (!globalThis.crypto?.subtle) {
    return say('unknown', 'Not checked: the browser offers no cryptography on a page without https. Use the commands below.');
  }
  const { attestation, ...response } = JSON.parse(document.getElementById('receipt').textContent);
  const listed = await listedKey(attestation.key_version);
  if (!listed) {
    return say('not-valid', `Not valid: this site lists no key ${attestation.key_version}.`);
  }
  const key = await importKey(listed);
  if (!key) {
    return say('unknown', 'Not checked: this browser does not know Ed25519. Use the commands below.');
  }
  const signed = canonical({
    context: CONTEXT,
    algorithm: 'Ed25519',
    key_version: attestation.key_version,
    attested_at: attestation.timestamp,
    response,
  });
  const right = await crypto.subtle.verify('Ed25519', key, bytes(attestation.signature), new TextEncoder().encode(signed));
  if (!right) return say('not-valid', 'Not valid: the signature does not belong to this receipt.');
  if (listed.status === 'compromised') {
    return say('not-valid', `Not valid: key ${listed.keyVersion} is listed as compromised, so its signature proves nothing.`);
  }
  say('valid', `Valid: key ${listed.keyVersion} (${listed.status}) of this site signed exactly this receipt. Checked in your browser.`);
}

check().catch(() => say('unknown', 'Not checked: the key list of this site could not be read. Use the commands below.'));
