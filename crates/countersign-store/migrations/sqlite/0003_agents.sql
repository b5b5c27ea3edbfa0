-- What a score is made of (verification.md, section 21): per agent the counts and the sums over its counted
-- checks. A check is counted when it names an agent and is no test. The sums are as of `last_seen`, the time of
-- the newest counted check, and are written in the transaction that numbers the receipts.
CREATE TABLE agent (
    agent_id       TEXT    NOT NULL PRIMARY KEY,
    verified       INTEGER NOT NULL,
    passed         INTEGER NOT NULL,
    first_seen     INTEGER NOT NULL,   -- microseconds since 1970, UTC, like the next
    last_seen      INTEGER NOT NULL,
    weights        REAL    NOT NULL,
    passed_weights REAL    NOT NULL,
    squares        REAL    NOT NULL
) STRICT, WITHOUT ROWID;

-- Lists the counted checks of one agent in the order of their numbers: the rowid, which is `sequence`, is the
-- last part of every index.
CREATE INDEX receipt_counted ON receipt (agent_id) WHERE agent_id IS NOT NULL AND is_test = 0;

-- The half-life that the sums are made with. 0: they are still to be made.
ALTER TABLE receipt_counter ADD COLUMN half_life_days INTEGER NOT NULL DEFAULT 0;
