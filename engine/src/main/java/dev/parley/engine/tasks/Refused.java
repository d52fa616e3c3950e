package dev.parley.engine.tasks;

import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.TemporaryFailure;
import java.time.Duration;

/** Refusals of calls that wait for a task. */
public final class Refused {
    private Refused() {}

    /** Whether the task goes on at another engine, so that its readers do, too. */
    public static boolean isOfOtherOwner(A2AException refusal) {
        return refusal.getCause() instanceof OtherOwnerException;
    }

    /** The server stops. */
    public static A2AException stopping() {
        return A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
    }

    /** The log has refused the task. */
    public static A2AException unwritten(Exception cause) {
        if (cause instanceof OtherOwnerException) {
            return A2AException.unavailable("Another server works at the task", Duration.ofSeconds(1))
                    .causedBy(cause);
        }
        String reason =
                TemporaryFailure.reasonOf(cause).map(words -> ": " + words).orElse("");
        return A2AException.unavailable("The task could not be written" + reason, Duration.ofSeconds(1))
                .causedBy(cause);
    }
}
