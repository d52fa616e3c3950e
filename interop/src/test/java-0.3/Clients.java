import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfig;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfig;
import io.a2a.spec.AgentCard;
import io.a2a.spec.DeleteTaskPushNotificationConfigParams;
import io.a2a.spec.EventKind;
import io.a2a.spec.GetTaskPushNotificationConfigParams;
import io.a2a.spec.JSONRPCError;
import io.a2a.spec.ListTaskPushNotificationConfigParams;
import io.a2a.spec.Message;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.StreamingEventKind;
import io.a2a.spec.Task;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** How this release of the SDK does what {@link Operations} wants. */
final class Clients {
    static final String RELEASE = "0.3.3.Final";
    static final String DIALECT = "0.3";
    static final List<String> BINDINGS = List.of("jsonrpc", "rest");

    private Clients() {}

    static Agent connect(String hub, String path, String binding) throws Exception {
        AgentCard card = A2A.getAgentCard(hub, path + "/.well-known/agent-card.json", Map.of());
        return new Connected(card, binding.equals("rest"));
    }

    /** Returns the code of the error that a call has ended with; null if the client does not tell. */
    static Integer codeOf(Throwable failure) {
        for (Throwable one = failure; one != null; one = one.getCause()) {
            if (one instanceof JSONRPCError error) {
                return error.getCode();
            }
        }
        return null;
    }

    private static final class Connected implements Agent {
        private final AgentCard card;
        private final boolean rest;
        private final Client streaming;

        Connected(AgentCard card, boolean rest) throws Exception {
            this.card = card;
            this.rest = rest;
            streaming = client(new ClientConfig.Builder().setStreaming(true));
        }

        private Client client(ClientConfig.Builder config) throws Exception {
            var builder = Client.builder(card)
                    .clientConfig(config.setUseClientPreference(true).build());
            return rest
                    ? builder.withTransport(RestTransport.class, new RestTransportConfig())
                            .build()
                    : builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig())
                            .build();
        }

        @Override
        public AgentCard card() throws Exception {
            return streaming.getAgentCard();
        }

        @Override
        public EventKind send(Message message, boolean blocking, PushNotificationConfig push) throws Exception {
            Client waiting = client(new ClientConfig.Builder()
                    .setStreaming(false)
                    .setPolling(!blocking)
                    .setPushNotificationConfig(push));
            var answer = new CompletableFuture<EventKind>();
            waiting.sendMessage(message, listener(event -> answer.complete((EventKind) event)), failure -> {});
            return answer.getNow(null);
        }

        @Override
        public void stream(Message message, Consumer<StreamingEventKind> events) throws Exception {
            var arrival = new Arrival(events);
            streaming.sendMessage(message, listener(arrival), arrival::failed);
            arrival.await();
        }

        @Override
        public void resubscribe(String taskId, Consumer<StreamingEventKind> events) throws Exception {
            var arrival = new Arrival(events);
            streaming.resubscribe(new TaskIdParams(taskId), listener(arrival), arrival::failed);
            arrival.await();
        }

        @Override
        public Task get(String taskId, int historyLength) throws Exception {
            return streaming.getTask(new TaskQueryParams(taskId, historyLength));
        }

        @Override
        public Task cancel(String taskId) throws Exception {
            return streaming.cancelTask(new TaskIdParams(taskId));
        }

        @Override
        public TaskPushNotificationConfig setPushConfig(TaskPushNotificationConfig config) throws Exception {
            return streaming.setTaskPushNotificationConfiguration(config);
        }

        @Override
        public TaskPushNotificationConfig getPushConfig(String taskId, String configId) throws Exception {
            return streaming.getTaskPushNotificationConfiguration(
                    new GetTaskPushNotificationConfigParams(taskId, configId));
        }

        @Override
        public List<TaskPushNotificationConfig> listPushConfigs(String taskId) throws Exception {
            return streaming.listTaskPushNotificationConfigurations(new ListTaskPushNotificationConfigParams(taskId));
        }

        @Override
        public void deletePushConfig(String taskId, String configId) throws Exception {
            streaming.deleteTaskPushNotificationConfigurations(
                    new DeleteTaskPushNotificationConfigParams(taskId, configId));
        }

        @Override
        public boolean hearsRefusalsOfStreams() {
            return !rest;
        }

        /** Takes the events as they came, without the task that the client has made of all of them. */
        private static List<BiConsumer<ClientEvent, AgentCard>> listener(Consumer<StreamingEventKind> events) {
            return List.of((event, card) -> {
                if (event instanceof MessageEvent answer) {
                    events.accept(answer.getMessage());
                } else if (event instanceof TaskEvent task) {
                    events.accept(task.getTask());
                } else if (event instanceof TaskUpdateEvent update) {
                    events.accept((StreamingEventKind) update.getUpdateEvent());
                }
            });
        }
    }
}
