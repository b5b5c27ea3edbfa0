-- From when a key signs, where somebody said so, and the statement of the outgoing key that vouches for it.
ALTER TABLE public_key ADD COLUMN signs_from INTEGER;   -- microseconds since 1970, UTC
ALTER TABLE public_key ADD COLUMN endorsement TEXT;     -- JSON
