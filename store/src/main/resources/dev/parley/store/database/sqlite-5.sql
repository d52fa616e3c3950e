-- Tells a webhook from one that was registered before it under the same id.
ALTER TABLE webhook ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- Webhooks that came with messages which were answered without a task.
DELETE FROM webhook WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.task_id = webhook.task_id);
