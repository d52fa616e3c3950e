-- Tasks by the id of the trace in which they began. Callers that send no trace pay nothing for it.
CREATE INDEX task_by_trace ON task (substr(trace, 4, 32)) WHERE trace IS NOT NULL;
