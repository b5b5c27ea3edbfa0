-- Every public key that ever signed. Keys stay listed for ever (verification.md, section 20); private halves
-- are never in the database.
CREATE TABLE public_key (
    key_version text   NOT NULL PRIMARY KEY,
    public_key  bytea  NOT NULL UNIQUE,   -- Ed25519, 32 bytes
    status      text   NOT NULL,
    listed_at   bigint NOT NULL,          -- microseconds since 1970, UTC, like the next
    signs_from  bigint,
    endorsement text                      -- JSON: the statement of the outgoing key
);
