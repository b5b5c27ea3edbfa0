-- What a score is made of (verification.md, section 21): per agent the counts and the sums over its counted
-- checks. A check is counted when it names an agent and is no test. The sums are as of `last_seen`, the time of
-- the newest of them. They are over the receipts up to the number `receipt_counter.summed`; a record is these
-- sums and the few receipts after that number. Writing them with every commit would write a page an agent.
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

-- Finds the counted checks of one agent among 4,096 receipts in the order of their numbers (the rowid, which is
-- `sequence`, is the last part of every index). An index that begins with the agent would write a page a row.
CREATE INDEX receipt_counted ON receipt (sequence >> 12, agent_id) WHERE agent_id IS NOT NULL AND is_test = 0;

-- The half-life that the sums are made with. 0: they are still to be made.
ALTER TABLE receipt_counter ADD COLUMN half_life_days INTEGER NOT NULL DEFAULT 0;
-- The number up to which the sums are made, at most `last`.
ALTER TABLE receipt_counter ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
