package dev.parley.dialect;

import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An endpoint that answers as it is told and remembers what it was asked. */
final class ScriptedEndpoint implements AgentEndpoint {
    Function<Operation.Call<?>, Object> answers = call -> {
        throw new IllegalStateException("no answer to " + call);
    };
    List<LoggedEvent> events = List.of();

    private @Nullable RuntimeException failure;
    private @Nullable RuntimeException streamFailure;

    @Nullable
    Operation asked;

    @Nullable
    CallContext context;

    /** Answers every call with {@code result}. */
    ScriptedEndpoint answering(Object result) {
        answers = call -> result;
        return this;
    }

    /** Fails every call and every stream. */
    ScriptedEndpoint failing(RuntimeException failure) {
        this.failure = failure;
        return this;
    }

    /** Fails every stream. */
    ScriptedEndpoint failingStreams(RuntimeException failure) {
        this.streamFailure = failure;
        return this;
    }

    @Override
    @SuppressWarnings("unchecked") // the script knows
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        this.asked = operation;
        this.context = context;
        failIfTold();
        return (R) answers.apply(operation);
    }

    @Override
    @SuppressWarnings("unchecked") // only operations of A2A come here
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        this.asked = operation;
        this.context = context;
        failIfTold();
        if (streamFailure != null) {
            throw streamFailure;
        }
        return (Feed<E>) streamOf(events);
    }

    private void failIfTold() {
        if (failure != null) {
            throw failure;
        }
    }

    /** A stream that gives each of the events alone, and then ends. */
    static Feed<LoggedEvent> streamOf(List<LoggedEvent> events) {
        Queue<LoggedEvent> left = new ArrayDeque<>(events);
        return new Feed<LoggedEvent>() {
            @Override
            public @Nullable List<LoggedEvent> next(Duration patience) {
                LoggedEvent next = left.poll();
                return next == null ? null : List.of(next);
            }

            @Override
            public void close() {
                left.clear();
            }
        };
    }
}
