CREATE TABLE memory_sample (
    instance    text NOT NULL,
    used_bytes  bigint NOT NULL,
    measured_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE memory_minute (
    minute        timestamptz NOT NULL,
    instance      text NOT NULL,
    samples       integer NOT NULL,
    highest_bytes bigint NOT NULL,
    PRIMARY KEY (minute, instance)
);

-- the highest term that has written: an earlier leader writes no more
CREATE TABLE roll_up_term (
    role text PRIMARY KEY,
    term bigint NOT NULL
);

-- home
CREATE TABLE leadership (
    role     text PRIMARY KEY,
    instance text NOT NULL,
    term     bigint NOT NULL,
    until    timestamptz
);
