import io.a2a.server.PublicAgentCard;
import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.AgentSkill;
import io.a2a.spec.Artifact;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskNotCancelableError;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Does what the text of a message says, as its namesake in Python. */
@ApplicationScoped
public class Agent implements AgentExecutor {
    private static final List<String> TEXT = List.of("text/plain", "text/csv");

    /** How waiting tasks end, by context. */
    private final Map<String, CompletableFuture<TaskState>> ends = new ConcurrentHashMap<>();

    @Produces
    @PublicAgentCard
    AgentCard card() {
        List<AgentInterface> interfaces = Main.protocols().stream()
                .map(protocol ->
                        new AgentInterface(protocol, protocol.equals("GRPC") ? Main.authority() : Main.url()))
                .toList();
        return new AgentCard.Builder()
                .name("handyman")
                .description("Does what the text says")
                .version("1.0.0")
                .protocolVersion(Main.setting("protocol"))
                .url(interfaces.get(0).url())
                .preferredTransport(interfaces.get(0).transport())
                .additionalInterfaces(interfaces)
                .capabilities(new AgentCapabilities.Builder()
                        .streaming(true)
                        .pushNotifications(true)
                        .build())
                .defaultInputModes(TEXT)
                .defaultOutputModes(TEXT)
                .skills(List.of(new AgentSkill.Builder()
                        .id("do")
                        .name("Do")
                        .description("Does it")
                        .tags(List.of("test"))
                        .build()))
                .build();
    }

    @Override
    public void execute(RequestContext request, EventQueue events) {
        String text = ((TextPart) request.getMessage().getParts().get(0)).getText();
        if (text.equals("talk")) {
            events.enqueueEvent(said(request, "hello"));
            return;
        }
        if (request.getTask() == null) {
            events.enqueueEvent(new Task.Builder()
                    .id(request.getTaskId())
                    .contextId(request.getContextId())
                    .status(new TaskStatus(TaskState.SUBMITTED))
                    .history(request.getMessage())
                    .build());
        }
        events.enqueueEvent(status(request, TaskState.WORKING, null));
        switch (text) {
            case "count" -> {
                for (String said : List.of("1", "2", "3")) {
                    events.enqueueEvent(status(request, TaskState.WORKING, said));
                }
                events.enqueueEvent(artifact(request, List.of(new TextPart("one")), false));
                events.enqueueEvent(artifact(request, List.of(new TextPart("two")), true));
            }
            case "ask" -> {
                events.enqueueEvent(status(request, TaskState.INPUT_REQUIRED, "What?"));
                return;
            }
            case "wait" -> {
                if (waited(request, events) == TaskState.CANCELED) {
                    return;
                }
            }
            case "stop" -> {
                end(request).complete(TaskState.COMPLETED);
                events.enqueueEvent(artifact(request, request.getMessage().getParts(), false));
            }
            default ->
                events.enqueueEvent(artifact(request, request.getMessage().getParts(), false));
        }
        events.enqueueEvent(status(request, TaskState.COMPLETED, null));
    }

    private TaskState waited(RequestContext request, EventQueue events) {
        TaskState end;
        do {
            events.enqueueEvent(status(request, TaskState.WORKING, "..."));
            end = end(request)
                    .copy()
                    .completeOnTimeout(null, 100, TimeUnit.MILLISECONDS)
                    .join();
        } while (end == null);
        return end;
    }

    @Override
    public void cancel(RequestContext request, EventQueue events) {
        if (request.getTask().getStatus().state().isFinal()) {
            throw new TaskNotCancelableError(); // which later releases find out by themselves
        }
        events.enqueueEvent(status(request, TaskState.CANCELED, null));
        end(request).complete(TaskState.CANCELED); // and with it the queue
    }

    private CompletableFuture<TaskState> end(RequestContext request) {
        return ends.computeIfAbsent(request.getContextId(), id -> new CompletableFuture<>());
    }

    private static TaskStatusUpdateEvent status(RequestContext request, TaskState state, String text) {
        return new TaskStatusUpdateEvent.Builder()
                .taskId(request.getTaskId())
                .contextId(request.getContextId())
                .status(new TaskStatus(state, text == null ? null : said(request, text), null))
                .isFinal(state.isFinal() || state == TaskState.INPUT_REQUIRED)
                .build();
    }

    private static TaskArtifactUpdateEvent artifact(RequestContext request, List<Part<?>> parts, boolean more) {
        return new TaskArtifactUpdateEvent.Builder()
                .taskId(request.getTaskId())
                .contextId(request.getContextId())
                .artifact(new Artifact.Builder().artifactId("a").parts(parts).build())
                .append(more)
                .lastChunk(more)
                .build();
    }

    private static Message said(RequestContext request, String text) {
        return new Message.Builder()
                .role(Message.Role.AGENT)
                .messageId(UUID.randomUUID().toString())
                .taskId(request.getTaskId())
                .contextId(request.getContextId())
                .parts(new TextPart(text))
                .build();
    }
}
