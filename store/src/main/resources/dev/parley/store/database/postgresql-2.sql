-- Webhooks with the same channel get their events in one order.
ALTER TABLE webhook ADD COLUMN channel TEXT;
CREATE INDEX webhook_by_channel ON webhook (channel) WHERE channel IS NOT NULL;
