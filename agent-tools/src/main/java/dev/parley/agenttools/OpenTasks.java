package dev.parley.agenttools;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tasks that wait for an answer, by the conversations that began them; the newest 10,000. A model continues tasks of its own
 * conversation only: all conversations have the credentials of the same client. Safe for any thread.
 */
final class OpenTasks {
    private static final int MOST = 10_000;

    private final Map<String, Object> conversations = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Object> eldest) {
            return size() > MOST;
        }
    };

    synchronized void add(String taskId, Object conversation) {
        conversations.putIfAbsent(taskId, conversation);
    }

    synchronized boolean contains(String taskId, Object conversation) {
        return conversation.equals(conversations.get(taskId));
    }
}
