-- Webhooks count for the quota of their group.
INSERT INTO stored (group_id, kind, bytes)
    SELECT group_id, 'webhooks', sum(200 + length(config)) FROM webhook JOIN lane ON lane.lane_no = webhook.lane_no
        GROUP BY group_id;
