#!/usr/bin/env node
// Checks signed receipts without any code of the service that issued them.
//
//     verify_receipt.mjs RECEIPT... (--keys FILE [--root-key BASE64] | --public-key BASE64)
//                        [--request FILE] [--output FILE] [--schema FILE] [--rules FILE]
//
// A receipt is an answer of the service, saved as it came; `-` is standard input. The key comes from a list that
// you already trust (an agent card, or a list of keys), never from the receipt; with --root-key the list may come
// from anywhere, since only what that one key leads to by endorsements counts. With the files that were checked at
// hand, the hashes in the receipt are recomputed and compared. It prints one line of JSON per receipt.
//
// Exit code: 0 valid; 1 not valid; 2 not a receipt, or a file that could not be read.
// Needs Node 20 and nothing else. verify_receipt.py does the same with Python.

import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const CHECK_CONTEXT = "json-schema-verifier/verify-schema-attestation/v1";
const SCORE_CONTEXT = "json-schema-verifier/trust-score-attestation/v1";
const SUCCESSION_CONTEXT = "countersign/key-succession/v1";
const CARD_EXTENSION = "urn:json-schema-verifier:extension:attestation:";
const RECEIPT_LEVELS = 64; // Nesting of a receipt.
const INPUT_LEVELS = 67; // Nesting of the other files: 64 for a value, and the levels of a request around it.
const LIST_MAX = 10_000; // Entries of a key list.
const CHAIN_MAX = 1_000; // Endorsements between the root key and a receipt's key.
const KEY_ENCODING = "base64 of the raw 32-byte Ed25519 public key";
const STATUSES = ["next", "current", "previous", "compromised"];

/** The text is not what it should be; nothing can be decided about it. */
class Malformed extends Error {}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// Strict JSON: one text, one reading. JSON.parse keeps the last of two members with one name, so it will not do.

const SPACE = String.raw`[ \t\n\r]*`;
const STRING = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`;
const TOKEN = new RegExp(`${SPACE}([[\\]{},:]|true|false|null|${STRING}|${NUMBER})${SPACE}`, "y");

function readJson(bytes, levels) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed("not JSON in UTF-8");
  }
  let at = 0;
  let token; // Empty at the end.

  const next = () => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found && at < text.length) throw new Malformed("not JSON");
    token = found ? found[1] : "";
    if (found) at = TOKEN.lastIndex;
  };
  const take = (...marks) => {
    const taken = token;
    if (!marks.includes(taken)) throw new Malformed("not JSON");
    next();
    return taken;
  };
  const value = (depth) => {
    if (token[0] === '"') return string();
    if (/^[-0-9]/.test(token)) return number();
    const opening = take("{", "[", "true", "false", "null");
    if (opening.length > 1) return JSON.parse(opening);
    if (depth === 0) throw new Malformed("nested too deep");
    return opening === "{" ? object(depth) : array(depth);
  };
  const object = (depth) => {
    const found = Object.create(null); // Without a prototype, `__proto__` is a name like any other.
    if (token === "}") return next(), found;
    do {
      if (token[0] !== '"') throw new Malformed("not JSON");
      const name = string();
      take(":");
      if (name in found) throw new Malformed("two members of one object have the same name");
      found[name] = value(depth - 1);
    } while (take(",", "}") === ",");
    return found;
  };
  const array = (depth) => {
    const found = [];
    if (token === "]") return next(), found;
    do found.push(value(depth - 1));
    while (take(",", "]") === ",");
    return found;
  };
  const string = () => {
    const read = JSON.parse(token);
    if (!read.isWellFormed()) throw new Malformed("half a surrogate pair");
    next();
    return read;
  };
  const number = () => {
    const read = Number(token);
    if (!Number.isFinite(read)) throw new Malformed("a number is too large for a double");
    const isInteger = /^-?[0-9]+$/.test(token);
    if (isInteger && !Number.isSafeInteger(read) && String(read) !== token) {
      throw new Malformed("an integer would not keep its digits");
    }
    next();
    return read;
  };

  next();
  const root = value(levels);
  if (token !== "") throw new Malformed("not JSON");
  return root;
}

// RFC 8785: the canonical form. Its strings and numbers are those of ECMAScript; sort() goes by UTF-16 code units.

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

const sha256 = (value) => createHash("sha256").update(canonical(value)).digest("hex");

// What a receipt says about its inputs.

function requestHashes(request) {
  const required = ["task_id", "expected_schema", "submitted_output"];
  if (!isObject(request) || !required.every((name) => name in request)) {
    throw new Malformed("the request lacks task_id, expected_schema or submitted_output");
  }
  const references = { equals_field: null, equals: null, other_field: null, value: null, in_field: null, values: null };
  const rule = { ...references, tolerance: 1e-9, if_present: false };
  const bound = { min: null, max: null, if_present: false };
  const { detail, ...fields } = request;
  const rules = request.rules ?? [];
  const bounds = Object.entries(request.bounds ?? {});
  if (!Array.isArray(rules) || Array.isArray(request.bounds) || ![...rules, ...bounds.map((b) => b[1])].every(isObject)) {
    throw new Malformed("the rules or bounds of the request are of the wrong type");
  }
  const filled = bounds.map(([path, given]) => [path, { ...bound, ...given }]);
  const full = { agent_id: null, enforce_rules: false, strict_content_check: false, ...fields };
  full.rules = rules.length ? rules.map((given) => ({ ...rule, ...given })) : null;
  full.bounds = filled.length ? Object.fromEntries(filled) : null;
  return {
    output_hash: sha256(request.submitted_output),
    schema_hash: sha256(request.expected_schema),
    rules_hash: rulesHash({ rules: request.rules ?? null, bounds: request.bounds ?? null }),
    request_hash: sha256(full),
  };
}

function rulesHash(supplied) {
  if (Array.isArray(supplied)) supplied = { rules: supplied };
  if (!isObject(supplied) || !Object.keys(supplied).every((name) => ["rules", "bounds"].includes(name))) {
    throw new Malformed('the rules file holds neither an array nor {"rules": ..., "bounds": ...}');
  }
  return sha256({ rules: null, bounds: null, ...supplied });
}

// Ed25519, strictly.

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const ORDER_8_Y = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
const SMALL_ORDER_Y = [0n, 1n, P - 1n, ORDER_8_Y, P - ORDER_8_Y];

const littleEndian = (bytes) => BigInt("0x" + Buffer.from(bytes).reverse().toString("hex"));

function isSoundPoint(encoded) {
  const y = littleEndian(encoded) % 2n ** 255n;
  return y < P && !SMALL_ORDER_Y.includes(y);
}

function signatureHolds(key, signature, message) {
  const point = signature.subarray(0, 32);
  const scalar = littleEndian(signature.subarray(32));
  if (!isSoundPoint(key) || !isSoundPoint(point) || scalar >= ORDER) return false;
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
    return verifySignature(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    return false;
  }
}

/** The bytes, or undefined where the text is not the one padded base64 spelling of so many. */
function readBase64(text, length) {
  const bytes = typeof text === "string" ? Buffer.from(text, "base64") : Buffer.alloc(0);
  return bytes.length === length && bytes.toString("base64") === text ? bytes : undefined;
}

// Keys and receipts.

/** The entries of a key list by key version: a bare array, `keys`, `publicKeys`, or an agent card. */
function readKeys(document) {
  const extensions = document?.capabilities?.extensions;
  if (Array.isArray(extensions)) {
    document = extensions.find((extension) => String(extension?.uri).startsWith(CARD_EXTENSION))?.params;
  }
  const list = Array.isArray(document) ? document : document?.keys ?? document?.publicKeys;
  if (!Array.isArray(list) || !list.every((entry) => typeof entry?.keyVersion === "string")) {
    throw new Malformed("the key file holds no list of keys");
  }
  if (list.length > LIST_MAX) throw new Malformed("the key file is too long for one service's keys");
  const entries = list.filter((entry) => entry.algorithm === "Ed25519");
  const keys = new Map(entries.map((entry) => [entry.keyVersion, entry]));
  if (keys.size < entries.length) throw new Malformed("the key file lists a key version twice");
  return keys;
}

/** A list that is not trusted has to say everything: what an entry leaves out would be filled in with the best. */
function checkWhole(keys) {
  const entries = [...keys.values()];
  for (const { status, publicKeyEncoding, publicKey } of entries) {
    if (!STATUSES.includes(status) || publicKeyEncoding !== KEY_ENCODING || !readBase64(publicKey, 32)) {
      throw new Malformed("an entry of the key file lacks a known status, publicKeyEncoding or publicKey");
    }
  }
  if (new Set(entries.map((entry) => entry.publicKey)).size < entries.length) {
    throw new Malformed("the key file lists a key under two versions");
  }
}

/** The entry of this version, if valid endorsements lead to it from the root key. */
function ledTo(root, keys, version) {
  const found = keys.get(version);
  const steps = [];
  let before;
  let heir = found;
  while (heir && heir.publicKey !== root) {
    const word = heir.endorsement;
    if (!isObject(word) || Object.keys(word).sort().join() !== "attestedAt,keyVersion,signature") return undefined;
    const endorser = keys.get(word.keyVersion);
    const time = word.attestedAt;
    // Whoever has a compromised key can make any endorsement, of any date; a key that waits made none yet.
    if (!["current", "previous"].includes(endorser?.status)) return undefined;
    if (!isTime(time) || (before && time >= before) || steps.length === CHAIN_MAX) return undefined;
    steps.push([word, endorser, heir]);
    [heir, before] = [endorser, time];
  }
  return steps.every((step) => endorses(...step)) ? found : undefined;
}

function endorses(word, endorser, heir) {
  const signed = {
    context: SUCCESSION_CONTEXT,
    algorithm: "Ed25519",
    key_version: endorser.keyVersion,
    attested_at: word.attestedAt,
    response: { key_version: heir.keyVersion, public_key: heir.publicKey, endorser_public_key: endorser.publicKey },
  };
  const signature = readBase64(word.signature, 64);
  return signature && signatureHolds(readBase64(endorser.publicKey, 32), signature, Buffer.from(canonical(signed)));
}

/** Whether this is a time in its one spelling, in which earlier times sort first. */
function isTime(text) {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === text.slice(0, 19);
}

function readReceipt(bytes) {
  const receipt = readJson(bytes, RECEIPT_LEVELS);
  if (!isObject(receipt) || "verification_id" in receipt === "trust_score" in receipt) {
    throw new Malformed("neither the answer of a check nor a score");
  }
  const { attestation, ...response } = receipt;
  if (!isObject(attestation) || Object.keys(attestation).sort().join() !== "algorithm,key_version,signature,timestamp") {
    throw new Malformed("no attestation of the known form");
  }
  const allStrings = Object.values(attestation).every((member) => typeof member === "string");
  if (!allStrings || attestation.algorithm !== "Ed25519") throw new Malformed("no attestation by Ed25519");
  return { response, attestation };
}

/** The answer for one receipt. `known` holds [name, hash] pairs of the inputs at hand. */
function verify({ response, attestation }, keys, publicKey, rootKey, known) {
  const version = attestation.key_version;
  const entry = rootKey !== undefined ? ledTo(rootKey, keys, version) : keys?.get(version);
  const key = publicKey ?? readBase64(entry?.publicKey, 32);
  const signed = {
    context: "verification_id" in response ? CHECK_CONTEXT : SCORE_CONTEXT,
    algorithm: "Ed25519",
    key_version: attestation.key_version,
    attested_at: attestation.timestamp,
    response,
  };
  const hashes = {};
  for (const name of ["output_hash", "schema_hash", "rules_hash", "request_hash"]) {
    if (!(name in response)) continue;
    const same = known.filter(([given]) => given === name).map(([, hash]) => hash === response[name]);
    hashes[name] = same.length === 0 ? "not_checked" : same.every(Boolean) ? "match" : "mismatch";
  }
  const signature = readBase64(attestation.signature, 64);
  let outcome = "valid";
  if (!key) outcome = "unknown_key";
  else if (!signature || !signatureHolds(key, signature, Buffer.from(canonical(signed)))) outcome = "bad_signature";
  else if (Object.values(hashes).includes("mismatch")) outcome = "hash_mismatch";
  else if (entry?.status === "compromised") outcome = "key_compromised";
  return answer(outcome, attestation.key_version, entry?.status, attestation.timestamp, hashes);
}

function answer(outcome, keyVersion = null, keyStatus = null, attestedAt = null, hashes = {}) {
  return { outcome, key_version: keyVersion, key_status: keyStatus, attested_at: attestedAt, hashes };
}

const readFile = (name) => readFileSync(name === "-" ? 0 : name);

function main() {
  let texts, keys, publicKey, rootKey;
  const known = [];
  try {
    const names = ["keys", "public-key", "root-key", "request", "output", "schema", "rules"];
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (!positionals.length || !values.keys === !values["public-key"]) {
      throw new Malformed("usage: verify_receipt.mjs RECEIPT... (--keys FILE [--root-key BASE64] | --public-key BASE64)");
    }
    const input = (name) => readJson(readFile(values[name]), INPUT_LEVELS);
    if (values.keys) keys = readKeys(input("keys"));
    else publicKey = readBase64(values["public-key"], 32);
    if (!keys && !publicKey) throw new Malformed("--public-key is not the base64 of 32 bytes");
    rootKey = values["root-key"];
    if (rootKey !== undefined) {
      if (!keys || !readBase64(rootKey, 32)) {
        throw new Malformed("--root-key is not the base64 of 32 bytes, or there is no --keys");
      }
      checkWhole(keys);
    }
    if (values.request) known.push(...Object.entries(requestHashes(input("request"))));
    if (values.output) known.push(["output_hash", sha256(input("output"))]);
    if (values.schema) known.push(["schema_hash", sha256(input("schema"))]);
    if (values.rules) known.push(["rules_hash", rulesHash(input("rules"))]);
    texts = positionals.map(readFile);
  } catch (error) {
    console.error(`verify_receipt: ${error.message}`);
    return 2;
  }
  let worst = 0;
  for (const text of texts) {
    let result;
    try {
      result = verify(readReceipt(text), keys, publicKey, rootKey, known);
      worst = Math.max(worst, result.outcome === "valid" ? 0 : 1);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      console.error(`verify_receipt: ${error.message}`);
      result = answer("malformed");
      worst = 2;
    }
    console.log(JSON.stringify(result));
  }
  return worst;
}

process.exitCode = main();
