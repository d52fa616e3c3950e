package dev.parley.engine;

import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Messages of a simulated caller, each with an id of its own, which the caller may repeat. */
public final class SentMessages {
    private final String caller;
    private final Random random;
    private final Supplier<String> plan;
    private final List<Message> sent = new ArrayList<>();
    private int count;

    /** @param plan returns the text of a new message: the steps of the agent */
    public SentMessages(String caller, Random random, Supplier<String> plan) {
        this.caller = caller;
        this.random = random;
        this.plan = plan;
    }

    /** Returns a message that begins a task. */
    public Message fresh() {
        return remembered(Message.user(Part.text(plan.get())));
    }

    /** Returns a message to a task; one that begins a task if {@code task} is null. */
    public Message followUp(@Nullable String task) {
        return task == null
                ? fresh()
                : remembered(Message.user(Part.text(plan.get())).in(null, task));
    }

    /** Returns an earlier message, or one that begins a task if there is none. */
    public Message repeated() {
        return sent.isEmpty() ? fresh() : sent.get(random.nextInt(sent.size()));
    }

    private Message remembered(Message message) {
        Message named = message.withId(caller + "-" + count++);
        sent.add(named);
        return named;
    }

    /** Number of messages so far. */
    public int count() {
        return count;
    }

    /** Forgets the messages: none is repeated. */
    public void clear() {
        sent.clear();
    }
}
