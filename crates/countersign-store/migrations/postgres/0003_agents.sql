-- What a score is made of (verification.md, section 21): per agent the counts and the sums over its counted
-- checks. A check is counted when it names an agent and is no test. The sums are as of `last_seen`, the time of
-- the newest counted check, and are written in the statement that numbers the receipts.
CREATE TABLE agent (
    agent_id       bytea            NOT NULL PRIMARY KEY,   -- UTF-8
    verified       bigint           NOT NULL,
    passed         bigint           NOT NULL,
    first_seen     bigint           NOT NULL,               -- microseconds since 1970, UTC, like the next
    last_seen      bigint           NOT NULL,
    weights        double precision NOT NULL,
    passed_weights double precision NOT NULL,
    squares        double precision NOT NULL
) WITH (fillfactor = 70);

-- A sum carried forward in time: it halves with every half-life, that of the squares twice. What would be less
-- than 2^-500 of a check is nothing: PostgreSQL refuses a product that underflows.
CREATE FUNCTION aged(carried double precision, micros double precision, half_life_days integer, times integer)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN carried < 1e-150 OR times * (micros / (half_life_days * 86400e6::float8)) > 500 THEN 0
    ELSE carried * power(2::double precision, -(times * (micros / (half_life_days * 86400e6::float8))))
END;
