import io.a2a.A2A;
import io.a2a.client.A2AClient;
import io.a2a.spec.AgentCard;
import io.a2a.spec.DeleteTaskPushNotificationConfigParams;
import io.a2a.spec.EventKind;
import io.a2a.spec.GetTaskPushNotificationConfigParams;
import io.a2a.spec.JSONRPCError;
import io.a2a.spec.JSONRPCResponse;
import io.a2a.spec.Message;
import io.a2a.spec.MessageSendConfiguration;
import io.a2a.spec.MessageSendParams;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.StreamingEventKind;
import io.a2a.spec.Task;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** How this release of the SDK does what {@link Operations} wants. */
final class Clients {
    static final String RELEASE = "0.2.5";
    static final String DIALECT = "0.2";
    static final List<String> BINDINGS = List.of("jsonrpc");

    private Clients() {}

    static Agent connect(String hub, String path, String binding) throws Exception {
        AgentCard card = A2A.getAgentCard(hub, path + "/.well-known/agent.json", Map.of());
        return new Connected(card, new A2AClient(card));
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

    private record Connected(AgentCard card, A2AClient client) implements Agent {
        @Override
        public EventKind send(Message message, boolean blocking, PushNotificationConfig push) throws Exception {
            return result(client.sendMessage(params(message, blocking, push)));
        }

        @Override
        public void stream(Message message, Consumer<StreamingEventKind> events) throws Exception {
            var arrival = new Arrival(events);
            client.sendStreamingMessage(params(message, true, null), arrival, arrival::failed, () -> {
                arrival.failed(new IllegalStateException("the stream broke off"));
            });
            arrival.await();
        }

        @Override
        public void resubscribe(String taskId, Consumer<StreamingEventKind> events) throws Exception {
            var arrival = new Arrival(events);
            client.resubscribeToTask(new TaskIdParams(taskId), arrival, arrival::failed, () -> {
                arrival.failed(new IllegalStateException("the stream broke off"));
            });
            arrival.await();
        }

        @Override
        public Task get(String taskId, int historyLength) throws Exception {
            return result(
                    client.getTask(new TaskQueryParams(taskId, historyLength == 0 ? null : (Integer) historyLength)));
        }

        @Override
        public Task cancel(String taskId) throws Exception {
            return result(client.cancelTask(new TaskIdParams(taskId)));
        }

        @Override
        public TaskPushNotificationConfig setPushConfig(TaskPushNotificationConfig config) throws Exception {
            return result(client.setTaskPushNotificationConfig(config.taskId(), config.pushNotificationConfig()));
        }

        @Override
        public TaskPushNotificationConfig getPushConfig(String taskId, String configId) throws Exception {
            return result(client.getTaskPushNotificationConfig(
                    new GetTaskPushNotificationConfigParams(taskId, configId)));
        }

        @Override
        public List<TaskPushNotificationConfig> listPushConfigs(String taskId) throws Exception {
            return result(client.listTaskPushNotificationConfig(taskId));
        }

        @Override
        public void deletePushConfig(String taskId, String configId) throws Exception {
            result(client.deleteTaskPushNotificationConfig(
                    new DeleteTaskPushNotificationConfigParams(taskId, configId)));
        }

        private static MessageSendParams params(Message message, boolean blocking, PushNotificationConfig push) {
            return new MessageSendParams(
                    message, new MessageSendConfiguration(List.of(), null, push, blocking), Map.of());
        }

        private static <T> T result(JSONRPCResponse<T> answer) {
            if (answer.getError() != null) {
                throw answer.getError();
            }
            return answer.getResult();
        }
    }
}
