package dev.parley.mesh.hub;

import dev.parley.dialect.Json;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.hub.MessageAnswers.Answer;
import dev.parley.mesh.hub.MessageAnswers.Key;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Cancels tasks whose time is over. A timer is set before the message begins its task, so that no crash leaves a task without one. Safe
 * for any thread.
 */
final class Deadlines {
    private static final int PAGES = 100;

    /** Longest time after its due time for which a message may still be about to begin its task. */
    private static final Duration BEGINS_WITHIN = Duration.ofMinutes(1);

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);

    private final HubParts hub;
    private final MessageAnswers answers;
    private final HubTimers.Timers timers;

    Deadlines(HubParts hub, MessageAnswers answers) {
        this.hub = hub;
        this.answers = answers;
        this.timers = hub.timers().named("one/deadline", this::end);
    }

    /** Has the task of a message end, unless it has ended before. */
    void set(Instant due, String agent, Key key, Message message, CallContext caller) {
        Map<String, Object> timer = Map.of(
                "agent",
                agent,
                "group",
                key.group(),
                "sender",
                key.sender(),
                "messageId",
                key.messageId(),
                "contextId",
                String.valueOf(message.contextId()),
                "caller",
                caller.caller(),
                "grants",
                List.copyOf(caller.grants()),
                "due",
                due.toEpochMilli());
        timers.set(id(key), due, text(timer));
    }

    private static String id(Key key) {
        return Sha256.hex(key.group() + "\n" + key.sender() + "\n" + key.messageId());
    }

    private static String text(Map<?, ?> timer) {
        return new String(Json.write(timer), StandardCharsets.UTF_8);
    }

    private static Map<?, ?> timer(String content) {
        return Json.read(content.getBytes(StandardCharsets.UTF_8), Map.class);
    }

    /** Erases the timer of the task of a message. */
    void cancel(Key key) {
        timers.cancel(id(key));
    }

    /**
     * Erases a principal, and returns how many timers had the name. A task of another caller keeps its time limit without the name of the
     * sender, which a hub without authentication does not check.
     */
    int erase(String group, String principal) {
        return timers.erase(content -> {
            var timer = new HashMap<Object, @Nullable Object>(timer(content));
            if (!text(timer, "group").equals(group)) {
                return content;
            }
            if (text(timer, "caller").equals(principal)) {
                return null;
            }
            return timer.replace("sender", principal, "") ? text(timer) : content;
        });
    }

    private void end(String id, String content) {
        Map<?, ?> timer = timer(content);
        String caller = text(timer, "caller");
        CallContext context = CallContext.of(caller, new CallContext.Scope(text(timer, "group"), caller))
                .withGrants(grants(timer.get("grants")), "");
        AgentEndpoint agent = hub.agents().within(text(timer, "agent"));
        String taskId = answers.find(new Key(text(timer, "group"), text(timer, "sender"), text(timer, "messageId")))
                .map(Answer::taskId)
                .or(() -> begun(agent, text(timer, "contextId"), text(timer, "messageId"), context))
                .orElse(null);
        if (taskId == null) {
            lookAgain(id, content, timer.get("due"));
            return;
        }
        try {
            var unused = agent.call(
                    new Operation.CancelTask(null, taskId, Map.of(Delegations.END, MeshError.TIMEOUT.word())), context);
        } catch (A2AException refused) {
            if (refused.error() != A2AError.TASK_NOT_CANCELABLE && refused.error() != A2AError.TASK_NOT_FOUND) {
                throw refused;
            }
        }
    }

    /** The message is about to begin its task, on a busy machine; or it was refused, or a crash came before its task. */
    private void lookAgain(String id, String content, @Nullable Object due) {
        Instant now = Instant.now();
        Duration since = due instanceof Number millis
                ? Duration.between(Instant.ofEpochMilli(millis.longValue()), now)
                : BEGINS_WITHIN;
        if (since.compareTo(BEGINS_WITHIN) < 0) {
            timers.set(id, now.plus(since.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : since), content);
        }
    }

    /** The task that a message began, of which there is no answer, because of a crash. */
    private static Optional<String> begun(
            AgentEndpoint agent, String contextId, String messageId, CallContext context) {
        String page = "";
        for (int i = 0; i < PAGES; i++) {
            TaskPage tasks = agent.call(
                    new Operation.ListTasks(
                            null, contextId, null, null, page.isEmpty() ? null : page, null, null, false),
                    context);
            for (Task task : tasks.tasks()) {
                if (task.history().stream()
                        .anyMatch(message -> message.messageId().equals(messageId))) {
                    return Optional.of(task.id());
                }
            }
            page = tasks.nextPageToken();
            if (page.isEmpty()) {
                break;
            }
        }
        return Optional.empty();
    }

    private static Set<String> grants(@Nullable Object list) {
        var grants = new HashSet<String>();
        if (list instanceof List<?> all) {
            all.forEach(grant -> grants.add(String.valueOf(grant)));
        }
        return grants;
    }

    private static String text(Map<?, ?> timer, String name) {
        return String.valueOf(timer.get(name));
    }
}
