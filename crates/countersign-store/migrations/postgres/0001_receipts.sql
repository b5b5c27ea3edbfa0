-- What is kept of one check (verification.md, section 24): hashes, counts and switches, no text of the caller
-- but the two ids. Those are UTF-8 in bytea, so that every id can be kept (text takes no U+0000) and none is
-- compared by a collation; read them with convert_from(task_id, 'UTF8').
CREATE TABLE receipt (
    sequence             bigint  NOT NULL CONSTRAINT receipt_number_once PRIMARY KEY,
    schema_passed        bigint  NOT NULL,
    schema_total         bigint  NOT NULL,
    integrity_passed     bigint  NOT NULL,
    integrity_total      bigint  NOT NULL,
    findings             bigint  NOT NULL,
    flags                bigint  NOT NULL,
    verified_at          bigint  NOT NULL,          -- microseconds since 1970, UTC
    passed               boolean NOT NULL,
    enforce_rules        boolean NOT NULL,
    strict_content_check boolean NOT NULL,
    detail_full          boolean NOT NULL,
    is_test              boolean NOT NULL,
    paid                 boolean NOT NULL,
    verification_id      bytea   NOT NULL CONSTRAINT receipt_id_once UNIQUE,   -- 16 bytes
    task_id              bytea   NOT NULL,
    agent_id             bytea,
    output_hash          bytea   NOT NULL,          -- SHA-256, 32 bytes, like the three below
    schema_hash          bytea   NOT NULL,
    rules_hash           bytea   NOT NULL,
    request_hash         bytea   NOT NULL,
    blocking_checks      text    NOT NULL,          -- names, joined by commas
    key_version          text    NOT NULL,
    verifier_version     text    NOT NULL,
    mac                  bytea   NOT NULL           -- 32 bytes, made and checked by the service
);

-- Lists the counted checks of one agent in the order of their numbers.
CREATE INDEX receipt_counted ON receipt (agent_id, sequence) WHERE agent_id IS NOT NULL AND NOT is_test;

-- The number of the newest receipt, and the half-life that all sums are made with (0: they are still to be made).
-- Every batch of every node updates this row first, so commits take turns on it and the numbers have no gap.
-- The row changes with every commit: room on its page keeps the old versions from spreading.
CREATE TABLE receipt_counter (
    only_row       boolean NOT NULL PRIMARY KEY CHECK (only_row),
    last           bigint  NOT NULL,
    half_life_days integer NOT NULL
) WITH (fillfactor = 10);
INSERT INTO receipt_counter (only_row, last, half_life_days) VALUES (true, 0, 0);
