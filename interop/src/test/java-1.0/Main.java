import com.google.gson.Gson;
import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.http.A2ACardResolver;
import io.a2a.client.http.JdkA2AHttpClient;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfig;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfig;
import io.a2a.spec.AgentCard;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskQueryParams;
import io.a2a.spec.TaskState;
import io.a2a.spec.TextPart;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Calls agents of a hub by the Java SDK for 1.0.
 *
 * <p>Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}. The first argument
 * is the URL of the hub.
 *
 * <p>This release refuses every member that its proto does not have, so it cannot read the card of an unversioned request:
 * its caller names the version.
 */
final class Main {
    private final String hub;
    private final String binding;

    private Main(String hub, String binding) {
        this.hub = hub;
        this.binding = binding;
    }

    public static void main(String[] arguments) {
        for (String binding : List.of("jsonrpc", "rest")) {
            new Main(arguments[0], binding).tryAll();
        }
        System.exit(0);
    }

    private void tryAll() {
        tell("card", () -> {
            String version = card("echo").version();
            boolean refused = false;
            try {
                new A2ACardResolver(new JdkA2AHttpClient(), hub + "/agents/echo/", null).getAgentCard();
            } catch (Exception strict) {
                refused = true;
            }
            return "version " + version + (refused ? "; the card without a version is refused" : "");
        });
        tell("send", () -> {
            Task task = (Task) send("echo", "hello");
            return expect(text(task), "hello");
        });
        tell("send, answered by a message", () -> {
            Message answer = (Message) send("ping", "hello");
            return expect(text(answer.parts()), "pong: hello");
        });
        tell("stream", () -> {
            var events = new ArrayList<ClientEvent>();
            var ended = new CompletableFuture<Void>();
            Client client = client("counter", true, (event, card) -> {
                events.add(event);
                Task task = task(event);
                if (task != null && task.status().state() == TaskState.TASK_STATE_COMPLETED) {
                    ended.complete(null);
                }
            });
            client.sendMessage(A2A.toUserMessage("3"));
            ended.get(20, TimeUnit.SECONDS);
            return expect(events.size() > 3 ? "more than 3 events" : events.size() + " events", "more than 3 events");
        });
        tell("get", () -> {
            Task task = (Task) send("echo", "hello");
            Client client = client("echo", false, (event, card) -> {});
            return expect(
                    text(client.getTask(TaskQueryParams.builder().id(task.id()).build())), "hello");
        });
        tell("cancel", () -> {
            Task task = (Task) send("interview", "hello");
            Client client = client("interview", false, (event, card) -> {});
            Task canceled = client.cancelTask(new TaskIdParams(task.id()));
            return expect(canceled.status().state(), TaskState.TASK_STATE_CANCELED);
        });
    }

    /** The card in the form of 1.0, which this client has to ask for. */
    private AgentCard card(String agent) throws Exception {
        String path = "/agents/" + agent + "/.well-known/agent-card.json";
        return new A2ACardResolver(new JdkA2AHttpClient(), hub, null, path, Map.of("A2A-Version", "1.0"))
                .getAgentCard();
    }

    private Client client(String agent, boolean streaming, BiConsumer<ClientEvent, AgentCard> listener)
            throws Exception {
        var builder = Client.builder(card(agent))
                .addConsumer(listener)
                .clientConfig(new ClientConfig.Builder()
                        .setStreaming(streaming)
                        .setUseClientPreference(true)
                        .build());
        return binding.equals("rest")
                ? builder.withTransport(RestTransport.class, new RestTransportConfig())
                        .build()
                : builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig())
                        .build();
    }

    /** Sends a text, and returns the task or message of the answer. */
    private Object send(String agent, String text) throws Exception {
        var answer = new CompletableFuture<Object>();
        Client client = client(
                agent,
                false,
                (event, card) -> answer.complete(event instanceof MessageEvent message ? message.getMessage() : task(event)));
        client.sendMessage(A2A.toUserMessage(text));
        return answer.get(20, TimeUnit.SECONDS);
    }

    private static Task task(ClientEvent event) {
        return switch (event) {
            case TaskEvent whole -> whole.getTask();
            case TaskUpdateEvent update -> update.getTask();
            default -> null;
        };
    }

    private static String text(Task task) {
        return text(task.artifacts().get(0).parts());
    }

    private static String text(List<Part<?>> parts) {
        return ((TextPart) parts.get(0)).text();
    }

    private static String expect(Object actual, Object expected) {
        if (!expected.equals(actual)) {
            throw new AssertionError(actual + " (expected: " + expected + ")");
        }
        return String.valueOf(expected);
    }

    private void tell(String operation, Callable<String> work) {
        try {
            tell(operation, "passed", work.call());
        } catch (Exception | AssertionError failure) {
            tell(operation, "failed", String.valueOf(failure));
        }
    }

    private void tell(String operation, String result, String detail) {
        var check = new LinkedHashMap<String, String>();
        check.put("client", "Java 1.0.0.Alpha3");
        check.put("dialect", "1.0");
        check.put("binding", binding);
        check.put("operation", operation);
        check.put("result", result);
        check.put("detail", detail);
        System.out.println(new Gson().toJson(check));
    }
}
