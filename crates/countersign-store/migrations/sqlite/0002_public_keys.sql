-- Every public key that ever signed. Keys stay listed for ever (verification.md, section 20); private halves
-- are never in the database.
CREATE TABLE public_key (
    key_version TEXT    NOT NULL PRIMARY KEY,
    public_key  BLOB    NOT NULL UNIQUE,   -- Ed25519, 32 bytes
    status      TEXT    NOT NULL,
    listed_at   INTEGER NOT NULL           -- microseconds since 1970, UTC
) STRICT, WITHOUT ROWID;
