package dev.parley.mcp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.client.ServerFailure.Kind;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;

/** Calls of servers that have faults, over any transport. */
final class Faults {
    /** Much longer than a call with an answer of any kind takes. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    private Faults() {}

    static String call(McpClient client, String text, Duration limit) throws InterruptedException {
        var call = new Invocation("echo", Map.of("text", text), Map.of(), null, Map.of());
        return ((Outcome.Complete<CallResult>) client.call(call, limit, Progress.NONE))
                .result()
                .toString();
    }

    /** Returns the failure of a run, which the fault ends and not the time limit, or null if a fault was forgiven. */
    static @Nullable Throwable failure(ThrowingCallable run) {
        Throwable failure = catchThrowable(run);
        if (failure != null) {
            assertThat(failure).isInstanceOfAny(ServerFailure.class, McpException.class);
            assertThat(failure instanceof ServerFailure lost ? lost.kind() : Kind.CONNECTION)
                    .isNotEqualTo(Kind.TIMEOUT);
        }
        return failure;
    }
}
