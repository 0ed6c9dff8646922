-- report
CREATE TABLE customer_order (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer   text NOT NULL,
    ordered_on date NOT NULL,
    amount     numeric(10, 2) NOT NULL
);
CREATE INDEX customer_order_ordered_on ON customer_order (ordered_on);

CREATE TABLE customer_day_report (
    day      date NOT NULL,
    customer text NOT NULL,
    orders   integer NOT NULL,
    amount   numeric(12, 2) NOT NULL,
    PRIMARY KEY (day, customer)
);

CREATE TABLE report_run (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance    text NOT NULL,
    started_at  timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    report_rows integer NOT NULL
);

CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic      text NOT NULL,
    payload    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- webhook
CREATE TABLE processed_events (
    event_id     text PRIMARY KEY,
    instance     text NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE account (
    customer text PRIMARY KEY,
    paid     numeric(14, 2) NOT NULL
);

-- sync
CREATE TABLE partner_price (
    sku    text PRIMARY KEY,
    price  numeric(10, 2) NOT NULL,
    change bigint NOT NULL
);

-- each answer of the partner is stored with the token that was sent; the last one's next token is sent next
CREATE TABLE sync_run (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sent_token text UNIQUE,
    next_token text NOT NULL,
    instance   text NOT NULL,
    synced_at  timestamptz NOT NULL DEFAULT now()
);

-- provision
CREATE TABLE tenant (
    name           text PRIMARY KEY,
    plan           text NOT NULL,
    provisioned_by text NOT NULL
);

-- home
CREATE TABLE instance_activity (
    instance     text NOT NULL,
    method       text NOT NULL,
    runs         integer NOT NULL DEFAULT 0,
    last_run     timestamptz,
    last_took_ms bigint,
    skips        integer NOT NULL DEFAULT 0,
    last_skip    timestamptz,
    PRIMARY KEY (instance, method)
);
