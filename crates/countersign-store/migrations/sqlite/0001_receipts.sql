-- What is kept of one check (verification.md, section 24): hashes, counts and switches, no text of the caller
-- but the two ids. `sequence` is the rowid, so rows lie in the order of their numbers.
CREATE TABLE receipt (
    sequence             INTEGER PRIMARY KEY,
    verification_id      BLOB    NOT NULL UNIQUE,   -- 16 bytes
    task_id              TEXT    NOT NULL,
    agent_id             TEXT,
    output_hash          BLOB    NOT NULL,          -- SHA-256, 32 bytes, like the three below
    schema_hash          BLOB    NOT NULL,
    rules_hash           BLOB    NOT NULL,
    request_hash         BLOB    NOT NULL,
    passed               INTEGER NOT NULL,          -- 0 or 1, like the switches below
    blocking_checks      TEXT    NOT NULL,          -- names, joined by commas
    schema_passed        INTEGER NOT NULL,
    schema_total         INTEGER NOT NULL,
    integrity_passed     INTEGER NOT NULL,
    integrity_total      INTEGER NOT NULL,
    findings             INTEGER NOT NULL,
    flags                INTEGER NOT NULL,
    enforce_rules        INTEGER NOT NULL,
    strict_content_check INTEGER NOT NULL,
    detail_full          INTEGER NOT NULL,
    is_test              INTEGER NOT NULL,
    paid                 INTEGER NOT NULL,
    verified_at          INTEGER NOT NULL,          -- microseconds since 1970, UTC
    key_version          TEXT    NOT NULL,
    verifier_version     TEXT    NOT NULL,
    mac                  BLOB    NOT NULL           -- 32 bytes, made and checked by the service
) STRICT;

-- The number of the newest receipt. It is read and written in the transaction that inserts the rows, so the
-- numbers have no gap.
CREATE TABLE receipt_counter (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    last     INTEGER NOT NULL
) STRICT;
INSERT INTO receipt_counter (only_row, last) VALUES (1, 0);
