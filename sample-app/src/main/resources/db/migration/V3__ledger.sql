-- webhook: the ledger remembers which events were processed
DROP TABLE processed_events;

-- outbox
ALTER TABLE outbox ADD COLUMN sent_at timestamptz, ADD COLUMN sent_by text;
CREATE INDEX outbox_unsent ON outbox (id) WHERE sent_at IS NULL;
