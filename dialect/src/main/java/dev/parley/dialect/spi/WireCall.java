package dev.parley.dialect.spi;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A call of an operation, of A2A or of an extension, as a dialect has read it from a request, and the form of its answer.
 *
 * @param operation the operation, with the position at which a stream resumes
 * @param view the agent as clients of the dialect expect it to behave, in front of the agent itself; may make further calls of it
 * @param answer writes the result of an {@link Operation.Call}, or the {@link Feed} of an {@link Operation.Watch}
 */
public record WireCall(
        Operation operation,
        UnaryOperator<AgentEndpoint> view,
        Function<@Nullable Object, ? extends WireAnswer> answer) {
    public WireCall {
        requireNonNull(operation, "operation");
        requireNonNull(view, "view");
        requireNonNull(answer, "answer");
    }

    /** A call with one result. */
    @SuppressWarnings("unchecked") // an operation brings results of its own type
    public static <R> WireCall of(Operation.Call<R> operation, Function<R, ? extends WireAnswer> answer) {
        return new WireCall(operation, UnaryOperator.identity(), result -> answer.apply((R) result));
    }

    /** A call with a stream. */
    @SuppressWarnings("unchecked") // an operation brings events of its own type
    public static <E> WireCall of(Operation.Watch<E> operation, Function<Feed<E>, ? extends WireAnswer> answer) {
        return new WireCall(
                operation, UnaryOperator.identity(), feed -> answer.apply((Feed<E>) requireNonNull(feed, "feed")));
    }

    /** This call of an agent with another view. */
    public WireCall seenAs(UnaryOperator<AgentEndpoint> other) {
        return new WireCall(operation, other, answer);
    }
}
