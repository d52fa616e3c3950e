package dev.parley.engine;

import dev.parley.engine.spi.ConversationMemory;
import dev.parley.engine.spi.Tools;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Message to an agent with the context of its caller. Safe for any thread. */
public interface Request {
    /** A file that came with the message. Exactly one of {@code bytes} and {@code url} is set. */
    record File(
            @Nullable String name,
            @Nullable String mediaType,
            byte @Nullable [] bytes,
            @Nullable String url) {}

    /** The message that this call is about. */
    Message message();

    /** The text parts of the message, one below the other; empty if there are none. */
    String text();

    /** The parts of the message. */
    List<Part> parts();

    /** The files of the message, by their bytes or by their address. */
    default List<File> files() {
        var files = new ArrayList<File>();
        for (Part part : parts()) {
            switch (part) {
                case Part.Raw raw -> files.add(new File(raw.filename(), raw.mediaType(), raw.raw(), null));
                case Part.Url url -> files.add(new File(url.filename(), url.mediaType(), null, url.url()));
                case Part.Text text -> {}
                case Part.Data data -> {}
            }
        }
        return files;
    }

    /** The metadata of the send request. */
    Map<String, @Nullable Object> metadata();

    /** The task's id; given already when the task itself is yet to be created. */
    String taskId();

    /** The conversation that the task belongs to. */
    String contextId();

    /**
     * The task as it stands, with all that was emitted; empty before the first emission. After a crash it tells what was
     * done already.
     */
    Optional<Task> task();

    /**
     * Messages of the task before this one, oldest first, including the question that it answers; empty for the first
     * message of a task.
     */
    List<Message> history();

    /** True if the message continues a task that an earlier call began. */
    boolean isFollowUp();

    /** 1, and one more each time the task was taken up again after a crash. */
    int attempt();

    /**
     * Fencing token of this call, for changes that the handler makes in a database of its own. It is greater than the tokens of all calls for
     * the task that other hubs have made before, and not smaller than those of this hub. The database keeps the token of the newest change of
     * a task, and refuses a change with a smaller one, as of a hub that stood still while another one took over its tasks:
     * {@code UPDATE … SET fence = :fence WHERE task_id = :task AND fence <= :fence}. 0 if the task is yet to be created.
     */
    long fence();

    /** Time at which this call is interrupted and its task fails. */
    Instant deadline();

    /** True once the task is canceled. The thread is interrupted too. */
    boolean isCanceled();

    /** The media types that the caller can read; empty if it did not say. */
    List<String> acceptedOutputModes();

    /**
     * An extension of the hub, on behalf of the caller.
     *
     * @throws IllegalStateException if the agent has not declared that it uses the extension, or the hub does not have it
     */
    <V> V extension(ExtensionView<V> view);

    /**
     * Tools that the hub has, on behalf of the caller.
     *
     * @throws IllegalStateException if the hub has none
     */
    Tools tools();

    /**
     * Memory of the conversation between this caller and this agent; empty if the hub does not keep its data. Requests of a conversation
     * may run at the same time.
     */
    default Optional<ConversationMemory> memory() {
        return Optional.empty();
    }

    /**
     * The credential that was handed over out of band after {@link Reply#askForCredentials}, in the call that it has led to
     * and in no other: it is never kept, so after a crash it has to be asked for again.
     */
    Optional<String> credential();

    /** Caller, its scope, and the activated extensions. */
    CallContext context();
}
