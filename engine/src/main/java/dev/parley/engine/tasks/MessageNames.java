package dev.parley.engine.tasks;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names of a message, each of which leads to its task when the message comes again: a key of its sender, if it has one, and its id.
 *
 * @param all the key before the id
 * @param key of the sender; null for none
 */
public record MessageNames(List<MessageKey> all, @Nullable String key) {
    /** Begins the names of messages that have a key of their sender, among the ids of other messages. */
    private static final String IDEMPOTENCY_KEY = "\u0001key:";

    /** Begins a name that says which message came first under a key. The key has no such character. */
    private static final String FIRST = "\u0001first:";

    public MessageNames {
        all = List.copyOf(all);
    }

    /** @param id of the message, or one that cannot repeat if the agent wants each message anew; null for none */
    public static MessageNames of(CallContext context, String agent, @Nullable String id) {
        String key = context.idempotencyKey();
        MessageKey byKey = key == null ? null : new MessageKey(context.scope(), agent, IDEMPOTENCY_KEY + key);
        MessageKey byId = id == null ? null : new MessageKey(context.scope(), agent, id);
        if (byKey == null) {
            return new MessageNames(byId == null ? List.of() : List.of(byId), null);
        }
        return new MessageNames(byId == null ? List.of(byKey) : List.of(byKey, byId), key);
    }

    /** The key of the sender, if a name is of the key; null if it is of the id. */
    public @Nullable String keyOf(MessageKey name) {
        return key != null && name.equals(all.getFirst()) ? key : null;
    }

    /** The name that tells that a message came first under a key, in the scope of a name. */
    public static MessageKey firstUnder(MessageKey name, String key, Message message) {
        return new MessageKey(name.scope(), name.agent(), FIRST + key + '\u0001' + message.messageId());
    }

    /** Has a task answer for a message of these names. */
    public void answeredBy(LiveTask live, Message message) {
        all.forEach(live::answersFor);
        if (key != null) {
            live.answersFor(firstUnder(all.getFirst(), key, message));
        }
    }
}
