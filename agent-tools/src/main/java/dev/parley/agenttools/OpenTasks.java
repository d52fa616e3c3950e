package dev.parley.agenttools;

import java.util.LinkedHashMap;

/**
 * Tasks of one agent that wait for an answer, by the conversations to which the agent has returned them last; the newest 10,000. A model
 * continues tasks of its own conversation only: all conversations have the credentials of the same client. Safe for any thread.
 */
final class OpenTasks {
    private static final int MOST = 10_000;

    private final LinkedHashMap<String, Object> conversations = new LinkedHashMap<>();

    synchronized void add(String taskId, Object conversation) {
        conversations.putLast(taskId, conversation);
        if (conversations.size() > MOST) {
            conversations.pollFirstEntry();
        }
    }

    synchronized boolean contains(String taskId, Object conversation) {
        return conversation.equals(conversations.get(taskId));
    }
}
