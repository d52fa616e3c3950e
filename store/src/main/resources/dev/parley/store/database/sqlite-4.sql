-- Finds what is left of a lane that has no tasks: webhooks are few, so this costs a task nothing.
CREATE INDEX webhook_by_lane ON webhook (lane_no);
