package dev.parley.gateway.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireBinding;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.Notification;
import dev.parley.gateway.push.RelayTable.Relay;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Sha256;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Notifications of remote agents as they arrive, and those of shadows as they leave. Safe for any thread. */
final class Notices {
    /** Versions of A2A whose notifications are read. */
    private static final Set<String> VERSIONS = Set.of("1.0", "0.3", "0.2");

    /** Member of the metadata of updates of shadows: number of the event among those of its relay. */
    static final String NUMBER = "parley/relayed";

    private static final Binding READER = WireBinding.of(
                    new Interface("http://localhost", Interface.HTTP_JSON, null, "1.0"))
            .orElseThrow();

    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private final RelayTable relays;
    private final Consumer<Relay> news;

    /** @param news receives relays that have new events */
    Notices(RelayTable relays, Consumer<Relay> news) {
        this.relays = relays;
        this.news = news;
    }

    static boolean reads(String version) {
        return VERSIONS.contains(version.replaceFirst("^(\\d+\\.\\d+)\\..*", "$1"));
    }

    /**
     * Takes a notification; it is on disk when this returns.
     *
     * @param token that the agent has brought; empty for none
     * @param delivery id of the delivery; null for none
     * @throws A2AException METHOD_NOT_FOUND for an unknown or forged one, INVALID_PARAMS if it cannot be read
     */
    void take(String id, String token, @Nullable String delivery, byte[] body) {
        Relay relay = relays.find(id).orElse(null);
        byte[] expected = (relay == null ? "" : relay.tokenHash()).getBytes(UTF_8);
        if (!MessageDigest.isEqual(expected, Sha256.hex(token).getBytes(UTF_8)) || relay == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        TaskEvent event = read(relay.version(), body);
        String taskId = taskId(event);
        if (relay.isBound() && !taskId.equals(relay.taskId())) {
            throw A2AException.invalidParams("taskId", "not that of this webhook");
        }
        List<TaskEvent> events = event instanceof Task task ? changes(relay, task) : List.of(event);
        if (!events.isEmpty() && !relays.add(relay, delivery, events)) {
            throw A2AException.invalidParams("taskId", "has more than " + RelayTable.MOST_EVENTS + " events");
        }
        news.accept(relay);
    }

    private static TaskEvent read(String version, byte[] body) {
        try {
            // Before 1.0 a notification is a task, which the binding of 1.0 reads too.
            LoggedEvent read = READER.event(null, new String(body, UTF_8));
            if (read == null) {
                throw A2AException.invalidParams("body", "an update that cannot be read");
            }
            return read.event();
        } catch (A2AException unreadable) {
            throw A2AException.invalidParams("body", "no notification of A2A " + version)
                    .causedBy(unreadable);
        }
    }

    private static String taskId(TaskEvent event) {
        String id = switch (event) {
            case Task task -> task.id();
            case TaskStatusUpdateEvent update -> update.taskId();
            case TaskArtifactUpdateEvent update -> update.taskId();
            case Message message -> message.taskId();
        };
        if (id == null) {
            throw A2AException.invalidParams("taskId", "missing");
        }
        return id;
    }

    /** The difference between a whole task and the events before it. */
    private List<TaskEvent> changes(Relay relay, Task task) {
        Map<String, Artifact> known = new LinkedHashMap<>();
        for (long after = 0; ; after += RelayTable.MOST_EVENTS) {
            List<TaskEvent> events = relays.events(relay.id(), after, RelayTable.MOST_EVENTS);
            for (TaskEvent event : events) {
                if (event instanceof TaskArtifactUpdateEvent update && !Boolean.TRUE.equals(update.append())) {
                    known.put(update.artifact().artifactId(), update.artifact());
                }
            }
            if (events.size() < RelayTable.MOST_EVENTS) {
                break;
            }
        }
        var changes = new ArrayList<TaskEvent>();
        for (Artifact artifact : task.artifacts()) {
            if (!artifact.equals(known.get(artifact.artifactId()))) {
                changes.add(new TaskArtifactUpdateEvent(task.id(), task.contextId(), artifact, false, true, Map.of()));
            }
        }
        changes.add(new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of()));
        return changes;
    }

    /** A notification of a shadow with the ids of the task of the remote agent, and without the history of the shadow. */
    Notification shown(Notification notification) {
        String text = new String(notification.body(), UTF_8);
        Matcher id = ID.matcher(text);
        while (id.find()) {
            Relay relay = relays.ofShadow(id.group()).orElse(null);
            if (relay != null && relay.taskId() != null) {
                String named = text.replace(relay.shadow(), escaped(relay.taskId()));
                if (relay.contextId() != null) {
                    named = named.replace(relay.shadowContext(), escaped(relay.contextId()));
                }
                return notification.with(withoutOwn(named));
            }
        }
        return notification;
    }

    private static String escaped(String id) {
        String json = new String(Json.write(id), UTF_8);
        return json.substring(1, json.length() - 1);
    }

    /** A notification without the history and the numbers of the shadow. */
    private static byte[] withoutOwn(String body) {
        byte[] json = body.getBytes(UTF_8);
        if (!body.contains(NUMBER) && !body.contains("\"history\"")) {
            return json;
        }
        var members = new LinkedHashMap<String, Object>();
        Map<?, ?> read = Json.read(json, Map.class);
        read.forEach((name, value) -> {
            if (!name.equals("history")) {
                members.put(String.valueOf(name), withoutNumber(value));
            }
        });
        return Json.write(withoutNumber(members));
    }

    /** An event or task without the number in its metadata. */
    private static Object withoutNumber(Object value) {
        if (!(value instanceof Map<?, ?> event)
                || !(event.get("metadata") instanceof Map<?, ?> metadata)
                || !metadata.containsKey(NUMBER)) {
            return value;
        }
        var others = new LinkedHashMap<Object, Object>(metadata);
        others.remove(NUMBER);
        var rest = new LinkedHashMap<Object, Object>(event);
        rest.put("metadata", others);
        if (others.isEmpty()) {
            rest.remove("metadata");
        }
        return rest;
    }
}
