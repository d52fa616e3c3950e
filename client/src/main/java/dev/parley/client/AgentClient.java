package dev.parley.client;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.HttpCall;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An agent somewhere else, called over HTTP.
 *
 * <p>Safe for any number of threads. Calls block; every one of them has a deadline, and is tried again only where that is
 * safe: what never left or was declined with 429 or 503, always; what got lost on the way, only if the operation may be
 * asked twice, which sending a message may not. Redirects are not followed.
 *
 * <p>Every method throws {@link A2AException} for what the agent answers, and {@link ClientException} if there is no
 * answer.
 *
 * @see AgentClientBuilder
 */
public interface AgentClient extends AgentEndpoint, AutoCloseable {

    /** Connects with the default settings; see {@link AgentClientBuilder#connect}. */
    static AgentClient connect(String url) {
        return builder().connect(url);
    }

    /** Uses the agent that a card describes, with the default settings; see {@link AgentClientBuilder#of}. */
    static AgentClient of(AgentCard card) {
        return builder().of(card);
    }

    static AgentClientBuilder builder() {
        return new AgentClientBuilder();
    }

    /** The agent's card: the extended one once it has been asked for. */
    AgentCard card();

    /**
     * The interface of the card that is used: the first one, or the first of a preferred binding. If it does not answer at
     * the first call, it is the next one that answers, as long as its origin may have the credentials.
     */
    AgentCard.Interface address();

    /**
     * Fetches the card anew, if it has changed, and chooses among its interfaces again. Does nothing if the card was
     * given instead of found.
     *
     * @return the card that holds from now on
     * @throws ClientException if there is none any more, or none that can be used; the old one still holds
     */
    AgentCard refreshCard();

    /**
     * Sends a request of another protocol to the agent's origin, once, with the headers and credentials of this client.
     *
     * @throws ClientException if there is no answer, or the address is at an origin that may not have the credentials
     */
    HttpCall.Answer exchange(HttpCall call, Duration timeout);

    /** Asks for the card that only authenticated callers see; {@link #card()} returns it from now on. */
    AgentCard extendedCard();

    /** Sends text, and waits until the task settles: it has ended, or needs its caller. */
    default SendResult send(String text) {
        return send(Message.user(Part.text(text)));
    }

    /** Sends a message, and waits until the task settles: it has ended, or needs its caller. */
    default SendResult send(Message message) {
        return send(message, SendConfiguration.DEFAULTS);
    }

    default SendResult send(Message message, SendConfiguration configuration) {
        return call(new Operation.SendMessage(null, message, configuration, Map.of()), CallContext.anonymous());
    }

    /** Sends text, and watches what happens. */
    default TaskStream stream(String text) {
        return stream(Message.user(Part.text(text)));
    }

    /** Sends a message, and watches what happens. */
    default TaskStream stream(Message message) {
        return stream(message, SendConfiguration.DEFAULTS);
    }

    default TaskStream stream(Message message, SendConfiguration configuration) {
        return new TaskStream(watch(
                new Operation.SendStreamingMessage(null, message, configuration, Map.of()), CallContext.anonymous()));
    }

    /** Reads a task. */
    default Task task(String id) {
        return call(Operation.GetTask.of(id), CallContext.anonymous());
    }

    /** Reads a task with at most {@code historyLength} of its newest messages. */
    default Task task(String id, int historyLength) {
        return call(new Operation.GetTask(null, id, historyLength), CallContext.anonymous());
    }

    /** Reads one page of tasks. */
    default Operation.TaskPage tasks(Operation.ListTasks query) {
        return call(query, CallContext.anonymous());
    }

    /** All tasks that a query finds; each page is read when its first task is asked for. */
    default Iterable<Task> allTasks(Operation.ListTasks query) {
        return () -> new Pages<>(query.pageToken() == null ? "" : query.pageToken(), token -> {
            Operation.TaskPage page = tasks(token.isEmpty() ? query : query.from(token));
            return new Pages.Page<>(page.tasks(), page.nextPageToken());
        });
    }

    /** Asks for a task to be ended, and returns it as it stands then. */
    default Task cancel(String id) {
        return call(Operation.CancelTask.of(id), CallContext.anonymous());
    }

    /**
     * Watches a task that exists already; the first event is the task as it stands. Servers before 1.0 may begin with what
     * happens next; then the task that comes before that tells no more than its id.
     */
    default TaskStream subscribe(String id) {
        return new TaskStream(watch(Operation.SubscribeToTask.of(id), CallContext.anonymous()));
    }

    /**
     * Watches a task from after the event with number {@code after}, a value of {@link TaskStream#sequence}. Servers
     * that cannot do that begin with the task as it stands.
     */
    default TaskStream subscribe(String id, long after) {
        return new TaskStream(watch(new Operation.SubscribeToTask(null, id, after), CallContext.anonymous()));
    }

    /** Registers a webhook for the task that {@code config} names. */
    default PushConfig createPushConfig(PushConfig config) {
        return call(new Operation.CreatePushConfig(null, config), CallContext.anonymous());
    }

    /** Reads a webhook. */
    default PushConfig pushConfig(String taskId, String id) {
        return call(new Operation.GetPushConfig(null, taskId, id), CallContext.anonymous());
    }

    /** Reads all webhooks of a task. */
    default List<PushConfig> pushConfigs(String taskId) {
        var configs = new ArrayList<PushConfig>();
        new Pages<>("", token -> {
                    var query = new Operation.ListPushConfigs(null, taskId, 0, token.isEmpty() ? null : token);
                    Operation.PushConfigPage page = call(query, CallContext.anonymous());
                    return new Pages.Page<>(page.configs(), page.nextPageToken());
                })
                .forEachRemaining(configs::add);
        return List.copyOf(configs);
    }

    /** Removes a webhook; also succeeds if there is none. */
    default void deletePushConfig(String taskId, String id) {
        call(new Operation.DeletePushConfig(null, taskId, id), CallContext.anonymous());
    }

    /** Cancels open calls and streams. Tasks go on. Idempotent. */
    @Override
    void close();
}
