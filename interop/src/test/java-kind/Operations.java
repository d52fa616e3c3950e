import com.fasterxml.jackson.databind.JsonNode;
import io.a2a.spec.Artifact;
import io.a2a.spec.EventKind;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.PushNotificationAuthenticationInfo;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.StreamingEventKind;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import io.a2a.util.Utils;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What is done with each agent, one method for each row of the table of results. A method returns a few words about what
 * it saw, and throws if that is not what the protocol promises.
 */
final class Operations {
    @FunctionalInterface
    interface Operation {
        String run() throws Exception;
    }

    private static final int NOT_FOUND = -32001;
    private static final int NOT_CANCELABLE = -32002;
    private static final int UNSUPPORTED = -32004;

    private final Agent analyst;
    private final Agent chatty;
    private final Agent counter;
    private final Agent echo;
    private final Agent interview;
    private final Agent ping;

    Operations(Map<String, Agent> agents) {
        analyst = agents.get("analyst");
        chatty = agents.get("chatty");
        counter = agents.get("counter");
        echo = agents.get("echo");
        interview = agents.get("interview");
        ping = agents.get("ping");
    }

    Map<String, Operation> all() {
        var all = new LinkedHashMap<String, Operation>();
        all.put("card", this::card);
        all.put("send", this::send);
        all.put("send, answered by a message", this::sendForMessage);
        all.put("send files", this::sendFiles);
        all.put("send again when asked", this::sendAgain);
        all.put("stream", this::stream);
        all.put("stream of 2,000 events", this::longStream);
        all.put("stream up to a question", this::streamUpToQuestion);
        all.put("get", this::get);
        all.put("cancel", this::cancel);
        all.put("subscribe", this::subscribe);
        all.put("push config: create", this::createPushConfig);
        all.put("push config: get", this::getPushConfig);
        all.put("push config: list", this::listPushConfigs);
        all.put("push config: delete", this::deletePushConfig);
        all.put("webhook", this::webhook);
        all.put("errors", this::errors);
        return all;
    }

    private String card() throws Exception {
        var found = counter.card();
        equal(found.name(), "counter");
        equal(found.capabilities().streaming(), true);
        equal(found.capabilities().pushNotifications(), true);
        equal(found.skills().get(0).id(), "count");
        return found.name() + " " + found.version();
    }

    private String send() throws Exception {
        Task task = (Task) send(echo, message("Grüße, 世界 🌍"));
        equal(task.getStatus().state(), TaskState.COMPLETED);
        equal(texts(task.getArtifacts()), List.of("Grüße, 世界 🌍"));
        return texts(task.getArtifacts()).get(0);
    }

    private String sendForMessage() throws Exception {
        Message answer = (Message) send(ping, message("hello"));
        equal(answer.getRole(), Message.Role.AGENT);
        equal(textsOf(answer.getParts()), List.of("pong: hello"));
        return textsOf(answer.getParts()).get(0);
    }

    private String sendFiles() throws Exception {
        String table = Base64.getEncoder().encodeToString("city,people\nOslo,709000\nBergen,291000\n".getBytes());
        Message request = new Message.Builder(message("Please describe this"))
                .parts(
                        new TextPart("Please describe this"),
                        new FilePart(new FileWithBytes("text/csv", "cities.csv", table)))
                .build();
        Task task = (Task) send(analyst, request);
        equal(task.getStatus().state(), TaskState.COMPLETED);
        FileWithBytes chart = task.getArtifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .filter(FilePart.class::isInstance)
                .map(part -> (FileWithBytes) ((FilePart) part).getFile())
                .filter(file -> file.mimeType().equals("image/png"))
                .findFirst()
                .orElseThrow();
        equal(new String(Base64.getDecoder().decode(chart.bytes()), 1, 3), "PNG");
        return task.getArtifacts().size() + " artifacts";
    }

    private String sendAgain() throws Exception {
        Task task = (Task) send(interview, message("hello"));
        for (String answer : List.of("Ada", "tea")) {
            equal(task.getStatus().state(), TaskState.INPUT_REQUIRED);
            task = (Task) send(interview, message(answer, task.getId(), task.getContextId()));
        }
        equal(task.getStatus().state(), TaskState.COMPLETED);
        equal(texts(task.getArtifacts()), List.of("Name: Ada\nWish: tea\n"));
        return task.getHistory().size() + " messages in the history";
    }

    private String stream() throws Exception {
        List<StreamingEventKind> counted = stream(counter, message("3"));
        equal(counted.get(0).getClass(), Task.class);
        long working = updates(counted)
                .filter(update -> update.getStatus().state() == TaskState.WORKING)
                .count();
        equal(working >= 3, true);
        equal(artifactTexts(counted), List.of("Counted to 3."));
        ends(counted, TaskState.COMPLETED);

        List<StreamingEventKind> echoed = stream(echo, message("hello"));
        equal(artifactTexts(echoed), List.of("hello"));
        ends(echoed, TaskState.COMPLETED);
        return counted.size() + " + " + echoed.size() + " events";
    }

    private String longStream() throws Exception {
        List<StreamingEventKind> events = stream(chatty, message("2000"));
        List<String> said = updates(events)
                .filter(update -> update.getStatus().message() != null)
                .flatMap(update -> textsOf(update.getStatus().message().getParts()).stream())
                .toList();
        List<String> expected =
                IntStream.rangeClosed(1, 2000).mapToObj(i -> i + " of 2000").toList();
        equal(said, expected);
        return events.size() + " events";
    }

    private String streamUpToQuestion() throws Exception {
        List<StreamingEventKind> asked = stream(interview, message("hello"));
        ends(asked, TaskState.INPUT_REQUIRED);
        Task task = (Task) asked.get(0);
        List<StreamingEventKind> answered = stream(interview, message("Ada", task.getId(), task.getContextId()));
        ends(answered, TaskState.INPUT_REQUIRED);
        return asked.size() + " + " + answered.size() + " events";
    }

    private String get() throws Exception {
        Task sent = (Task) send(interview, message("hello"));
        Task whole = interview.get(sent.getId(), 0);
        equal(json(whole), json(sent));
        equal(textsOf(whole.getHistory().get(0).getParts()), List.of("hello"));
        Task last = interview.get(sent.getId(), 1);
        int size = whole.getHistory().size();
        equal(json(last.getHistory()), json(whole.getHistory().subList(size - 1, size)));
        return size + " messages in the history, 1 when 1 is asked for";
    }

    private String cancel() throws Exception {
        Task started = start();
        Task canceled = counter.cancel(started.getId());
        equal(canceled.getId(), started.getId());
        equal(canceled.getStatus().state(), TaskState.CANCELED);
        return String.valueOf(canceled.getStatus().timestamp());
    }

    private String subscribe() throws Exception {
        Task started = start();
        List<StreamingEventKind> events = Collections.synchronizedList(new ArrayList<>());
        counter.resubscribe(started.getId(), event -> {
            events.add(event);
            if (events.size() == 3) {
                try {
                    counter.cancel(started.getId());
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            }
        });
        equal(((Task) events.get(0)).getId(), started.getId());
        equal(updates(events).count(), events.size() - 1L);
        ends(events, TaskState.CANCELED);
        return events.size() + " events";
    }

    private String createPushConfig() throws Exception {
        return whileCounting(task -> {
            TaskPushNotificationConfig wanted = pushConfig(task.getId(), "mine");
            PushNotificationConfig named = counter.setPushConfig(wanted).pushNotificationConfig();
            equal(named.id(), "mine");
            equal(named.url(), wanted.pushNotificationConfig().url());
            // Secrets are not returned, which clients of ProtoJSON show as an empty text.
            equal(Objects.requireNonNullElse(named.token(), ""), "");
            equal(Objects.requireNonNullElse(named.authentication().credentials(), ""), "");
            equal(named.authentication().schemes(), List.of("Bearer"));
            PushNotificationConfig made =
                    counter.setPushConfig(pushConfig(task.getId(), null)).pushNotificationConfig();
            equal(made.url(), wanted.pushNotificationConfig().url());
            equal(made.id() == null, false);
            return "an id is given, or kept";
        });
    }

    private String getPushConfig() throws Exception {
        return whileCounting(task -> {
            TaskPushNotificationConfig made = counter.setPushConfig(pushConfig(task.getId(), "mine"));
            equal(counter.getPushConfig(task.getId(), "mine"), made);
            return made.pushNotificationConfig().url();
        });
    }

    private String listPushConfigs() throws Exception {
        return whileCounting(task -> {
            var made = new ArrayList<TaskPushNotificationConfig>();
            for (String id : List.of("a", "b")) {
                made.add(counter.setPushConfig(pushConfig(task.getId(), id)));
            }
            equal(counter.listPushConfigs(task.getId()), made);
            return made.size() + " configs";
        });
    }

    private String deletePushConfig() throws Exception {
        return whileCounting(task -> {
            counter.setPushConfig(pushConfig(task.getId(), "mine"));
            counter.deletePushConfig(task.getId(), "mine");
            counter.deletePushConfig(task.getId(), "mine");
            refused(NOT_FOUND, () -> counter.getPushConfig(task.getId(), "mine"));
            return "twice is as good as once";
        });
    }

    private String webhook() throws Exception {
        try (var hook = new Webhook()) {
            var push = new PushNotificationConfig(
                    hook.url(), "a token", new PushNotificationAuthenticationInfo(List.of("Bearer"), "s3cret"), null);
            Task task = (Task) counter.send(message("2"), true, push);
            List<Webhook.Received> received = hook.until(told -> state(told).equals("completed"));
            for (Webhook.Received one : received) {
                equal(one.headers().getFirst("Authorization"), "Bearer s3cret");
                equal(one.headers().getFirst("X-A2A-Notification-Token"), "a token");
                equal(one.body().path("kind").asText(), "task");
                equal(one.body().path("id").asText(), task.getId());
            }
            return received.size() + " tasks";
        }
    }

    private static String state(JsonNode task) {
        return task.path("status").path("state").asText();
    }

    private String errors() throws Exception {
        Task ended = (Task) send(echo, message("hello"));
        Message more = message("more", ended.getId(), ended.getContextId());
        refused(NOT_FOUND, () -> echo.get("nobody-made-this", 0));
        refused(NOT_CANCELABLE, () -> echo.cancel(ended.getId()));
        refused(UNSUPPORTED, () -> send(echo, more));
        if (echo.hearsRefusalsOfStreams()) {
            refused(UNSUPPORTED, () -> stream(echo, more));
            refused(UNSUPPORTED, () -> {
                echo.resubscribe(ended.getId(), event -> {});
                return "";
            });
        }
        return NOT_FOUND + ", " + NOT_CANCELABLE + ", " + UNSUPPORTED;
    }

    private static void equal(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError(actual + " (expected: " + expected + ")");
        }
    }

    private static void refused(int code, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (NotOffered none) {
            throw none;
        } catch (Exception | Error failure) { // the errors of JSON-RPC are errors of Java here
            if (!Objects.equals(Clients.codeOf(failure), code)) {
                throw new AssertionError("expected: " + code, failure);
            }
            return;
        }
        throw new AssertionError("not refused (expected: " + code + ")");
    }

    /** The last event, and no other, says that it is the last. */
    private static void ends(List<StreamingEventKind> events, TaskState expected) {
        TaskStatusUpdateEvent last = (TaskStatusUpdateEvent) events.get(events.size() - 1);
        equal(last.getStatus().state(), expected);
        equal(updates(events).filter(TaskStatusUpdateEvent::isFinal).toList(), List.of(last));
    }

    private static EventKind send(Agent agent, Message message) throws Exception {
        return agent.send(message, true, null);
    }

    private static List<StreamingEventKind> stream(Agent agent, Message message) throws Exception {
        List<StreamingEventKind> events = Collections.synchronizedList(new ArrayList<>());
        agent.stream(message, events::add);
        return events;
    }

    /** Starts to count, slowly and for long. */
    private Task start() throws Exception {
        return (Task) counter.send(message("1000"), false, null);
    }

    @FunctionalInterface
    private interface WithTask {
        String run(Task task) throws Exception;
    }

    private String whileCounting(WithTask body) throws Exception {
        Task task = start();
        try {
            return body.run(task);
        } finally {
            counter.cancel(task.getId());
        }
    }

    private static TaskPushNotificationConfig pushConfig(String taskId, String id) {
        var authentication = new PushNotificationAuthenticationInfo(List.of("Bearer"), "s3cret");
        return new TaskPushNotificationConfig(
                taskId,
                new PushNotificationConfig("http://127.0.0.1:9/nobody-listens", "a token", authentication, id));
    }

    private static Message message(String text) {
        return message(text, null, null);
    }

    private static Message message(String text, String taskId, String contextId) {
        return new Message.Builder()
                .role(Message.Role.USER)
                .parts(new TextPart(text))
                .messageId(UUID.randomUUID().toString())
                .taskId(taskId)
                .contextId(contextId)
                .build();
    }

    private static Stream<TaskStatusUpdateEvent> updates(List<StreamingEventKind> events) {
        return List.copyOf(events).stream()
                .filter(TaskStatusUpdateEvent.class::isInstance)
                .map(TaskStatusUpdateEvent.class::cast);
    }

    private static List<String> artifactTexts(List<StreamingEventKind> events) {
        return texts(events.stream()
                .filter(TaskArtifactUpdateEvent.class::isInstance)
                .map(event -> ((TaskArtifactUpdateEvent) event).getArtifact())
                .toList());
    }

    private static List<String> texts(List<Artifact> artifacts) {
        return artifacts.stream()
                .flatMap(artifact -> textsOf(artifact.parts()).stream())
                .toList();
    }

    private static List<String> textsOf(List<Part<?>> parts) {
        return parts.stream()
                .filter(TextPart.class::isInstance)
                .map(part -> ((TextPart) part).getText())
                .toList();
    }

    private static String json(Object value) throws Exception {
        return Utils.OBJECT_MAPPER.writeValueAsString(value);
    }
}
