package dev.parley.pipelines.repair;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.pipelines.step.StepInput;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes the report of a customer, asks for a video and for the leak, sends the car to the mechanic, and orders the part.
 *
 * <p>Keeps nothing between its calls: the history of the task tells how far it is, and messages to other agents have ids made of the id of
 * the task, so a repeated one has no second effect.
 */
final class ShopManager implements AgentHandler {
    private static final String VIDEO = "What does the noise sound like? Please send a video of it.";
    private static final String LEAK = "How long has the fluid been leaking?";

    /** Member of the task's metadata: id of the task of the mechanic. */
    private static final String MECHANIC = "mechanicTask";

    private static final Map<String, Object> CAR =
            Map.of("vehicle_id", "XYZ123", "make", "Toyota", "model", "Camry", "year", 2018);

    private final Function<String, AgentClient> agents;

    private ShopManager(Function<String, AgentClient> agents) {
        this.agents = agents;
    }

    /** @param agents connects to an agent of the shop by its name */
    static Agent agent(Function<String, AgentClient> agents) {
        return Agent.named("shop-manager", "Takes cars in for repair. Follows rules, uses no model.")
                .skill(new Skill(
                        "repair",
                        "Repair",
                        "Asks about the fault, has the car inspected and orders parts",
                        List.of("repair", "car"),
                        List.of("My car makes a rattling noise"),
                        List.of(),
                        List.of(),
                        List.of()))
                .inputModes("text/plain", "application/json", "video/*")
                .outputModes("text/plain", "application/json")
                .resumable(true)
                .handle(new ShopManager(agents));
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        String begun = request.task()
                .map(task -> task.metadata().get(MECHANIC) instanceof String id ? id : null)
                .orElse(null);
        if (begun != null) {
            Message answer = new Message(
                    request.taskId() + "-" + request.message().messageId(),
                    Role.USER,
                    request.parts(),
                    null,
                    begun,
                    Map.of(),
                    List.of(),
                    List.of());
            inspect(answer, request, reply);
            return;
        }
        List<Message> received = received(request);
        switch (received.size()) {
            case 0, 1 -> reply.askForInput(VIDEO);
            case 2 -> reply.askForInput(videos(received.get(1)) + " " + LEAK);
            default -> {
                reply.working("The mechanic inspects the car");
                inspect(order(received, request), request, reply);
            }
        }
    }

    /** Messages of the customer with content, the report first. */
    private static List<Message> received(Request request) {
        var all = new ArrayList<>(request.history());
        all.add(request.message());
        return all.stream()
                .filter(message -> message.role() == Role.USER)
                .filter(message -> message.parts().stream()
                        .anyMatch(part ->
                                !(part instanceof Part.Text text && text.text().isBlank())))
                .toList();
    }

    private static String videos(Message answer) {
        List<String> names = answer.parts().stream()
                .filter(part -> part.mediaType() != null && part.mediaType().startsWith("video/"))
                .map(part -> part.filename() == null ? "without a name" : part.filename())
                .toList();
        return names.isEmpty()
                ? "No video came; the mechanic gets the description."
                : "The video goes to the mechanic: " + String.join(", ", names)
                        + ". This agent follows rules and cannot watch it.";
    }

    private static Message order(List<Message> received, Request request) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>(CAR);
        data.putAll(received.getFirst().parts().stream()
                .filter(Part.Data.class::isInstance)
                .map(part -> StepInput.object(((Part.Data) part).data()))
                .findFirst()
                .orElse(Map.of()));
        data.put("report", received.getFirst().text());
        data.put("leaking", received.get(2).text());
        var parts = new ArrayList<Part>(List.of(Part.data(data)));
        received.get(1).parts().stream()
                .filter(part -> part instanceof Part.Raw || part instanceof Part.Url)
                .forEach(parts::add);
        return Message.of(Role.USER, parts).withId(request.taskId() + "-inspection");
    }

    private void inspect(Message message, Request request, Reply reply) throws InterruptedException {
        try (AgentClient mechanic = agents.apply("mechanic")) {
            Task task = follow(mechanic, message, reply);
            switch (task.state()) {
                case INPUT_REQUIRED ->
                    reply.move(
                            TaskState.INPUT_REQUIRED,
                            requireNonNull(task.status().message())
                                    .in(null, null)
                                    .withId(request.taskId() + "-question-"
                                            + received(request).size()),
                            Map.of(MECHANIC, task.id()));
                case COMPLETED -> finish(task, request, reply);
                default -> reply.fail("the mechanic did not finish: " + task.state() + text(task));
            }
        }
    }

    private static String text(Task task) {
        Message message = task.status().message();
        return message == null ? "" : ", " + message.text();
    }

    /** Passes on the progress and the artifacts of the mechanic until the task settles. */
    private static Task follow(AgentClient mechanic, Message message, Reply reply) {
        String id = message.taskId();
        try (TaskStream events = mechanic.stream(message)) {
            while (events.hasNext()) {
                switch (events.next()) {
                    case Task task -> id = task.id();
                    case TaskStatusUpdateEvent moved -> {
                        Message note = moved.status().message();
                        if (moved.status().state() == TaskState.WORKING && note != null) {
                            reply.working("mechanic: " + note.text());
                        }
                    }
                    case TaskArtifactUpdateEvent produced -> reply.artifact(produced.artifact());
                    case Message other -> reply.working("mechanic: " + other.text());
                }
            }
        }
        return mechanic.task(requireNonNull(id, "the mechanic answered without a task"));
    }

    private void finish(Task inspection, Request request, Reply reply) {
        Map<String, @Nullable Object> findings = data(inspection);
        Map<String, @Nullable Object> part = StepInput.object(findings.get("part"));
        if (part.isEmpty()) {
            reply.complete("The mechanic needs no part.");
            return;
        }
        String number = String.valueOf(part.get("number"));
        try (AgentClient supplier = agents.apply("parts-supplier")) {
            reply.working("Is part #" + number + " for a Camry 2018 in stock?");
            Map<String, @Nullable Object> stock = data(ask(supplier, "stock", number, request));
            if (!(stock.get("inStock") instanceof Number pieces) || pieces.intValue() == 0) {
                reply.complete(
                        Part.text("Part #" + number + " (" + part.get("name") + ") is out of stock and expected in "
                                + stock.get("expectedInDays") + " days. Nothing was ordered."),
                        Part.data(Map.of("part", number, "ordered", false)));
                return;
            }
            Map<String, @Nullable Object> order = data(ask(supplier, "order", number, request));
            reply.complete(
                    Part.text("Part #" + number + " (" + part.get("name") + ") is ordered: " + order.get("order")
                            + ". The repair follows the plan of the mechanic."),
                    Part.data(Map.of("part", number, "ordered", true, "order", String.valueOf(order.get("order")))));
        }
    }

    private static Task ask(AgentClient supplier, String kind, String part, Request request) {
        SendResult result = supplier.send(
                Message.user(Part.data(Map.of("request", kind, "part", part))).withId(request.taskId() + "-" + kind));
        if (result instanceof Task task && task.state() == TaskState.COMPLETED) {
            return task;
        }
        throw new IllegalStateException("the supplier did not answer: " + result);
    }

    /** The last data part of a task's artifacts; empty if it has none. */
    private static Map<String, @Nullable Object> data(Task task) {
        return task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .filter(Part.Data.class::isInstance)
                .map(part -> StepInput.object(((Part.Data) part).data()))
                .reduce(Map.of(), (first, second) -> second);
    }
}
