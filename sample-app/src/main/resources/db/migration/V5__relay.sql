-- relay: the messages of an order must be sent in their order
CREATE SEQUENCE order_number MINVALUE 0;

CREATE TABLE order_message (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_no  bigint NOT NULL,
    payload   text NOT NULL,
    sent_at   timestamptz,
    sent_by   text,
    sent_term bigint
);
CREATE INDEX order_message_unsent ON order_message ((order_no % 8), id) WHERE sent_at IS NULL;

-- the highest term that has sent messages of a shard: an earlier leader sends no more
CREATE TABLE order_relay_term (
    shard integer PRIMARY KEY,
    term  bigint NOT NULL
);
