-- home: all instances, who ran and who skipped, who led
CREATE TABLE sample_instance (
    name       text NOT NULL,
    port       integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    stopped_at timestamptz,
    PRIMARY KEY (name, port)
);

DROP TABLE instance_activity;
CREATE TABLE activity (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance text NOT NULL,
    key      text NOT NULL,
    outcome  text NOT NULL,
    tick     timestamptz,
    took_ms  bigint,
    at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

DROP TABLE leadership;
CREATE TABLE leadership (
    role     text NOT NULL,
    term     bigint NOT NULL,
    instance text NOT NULL,
    since    timestamptz NOT NULL DEFAULT clock_timestamp(),
    until    timestamptz,
    PRIMARY KEY (role, term)
);

-- report: while there is a row, the first attempt at each report fails
CREATE TABLE report_failure (
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
