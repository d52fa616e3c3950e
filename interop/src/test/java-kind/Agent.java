import io.a2a.spec.AgentCard;
import io.a2a.spec.EventKind;
import io.a2a.spec.Message;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.StreamingEventKind;
import io.a2a.spec.Task;
import io.a2a.spec.TaskPushNotificationConfig;
import java.util.List;
import java.util.function.Consumer;

/** What the clients of all releases can do with an agent, as {@link Operations} wants it done. */
interface Agent {
    AgentCard card() throws Exception;

    /** @param push null for none */
    EventKind send(Message message, boolean blocking, PushNotificationConfig push) throws Exception;

    /** Sends and reads the stream until an event says that it is the last. */
    void stream(Message message, Consumer<StreamingEventKind> events) throws Exception;

    /** Subscribes and reads the stream until an event says that it is the last. */
    void resubscribe(String taskId, Consumer<StreamingEventKind> events) throws Exception;

    /** @param historyLength 0 to say nothing about it */
    Task get(String taskId, int historyLength) throws Exception;

    Task cancel(String taskId) throws Exception;

    TaskPushNotificationConfig setPushConfig(TaskPushNotificationConfig config) throws Exception;

    TaskPushNotificationConfig getPushConfig(String taskId, String configId) throws Exception;

    List<TaskPushNotificationConfig> listPushConfigs(String taskId) throws Exception;

    void deletePushConfig(String taskId, String configId) throws Exception;

    /** False if the SDK tells its caller nothing at all when a server refuses a stream. */
    default boolean hearsRefusalsOfStreams() {
        return true;
    }
}
