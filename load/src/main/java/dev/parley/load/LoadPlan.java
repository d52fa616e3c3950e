package dev.parley.load;

import static java.util.Objects.requireNonNull;

import dev.parley.command.CommandException.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Plan of a load run. All numbers have limits, so that a mistyped number ends with a message and not with a machine
 * that is out of memory.
 *
 * @param connections 1 to 20,000; each sends one request at a time
 * @param duration how long is measured, at most a day
 * @param warmup how long before that requests are made but not counted
 * @param timeout how long an answer may make no progress
 * @param requests the run ends early after this many measured requests; 0 means it does not
 * @param text of each message
 * @param tasks how many tasks {@link LoadKind#GET} makes and then asks for
 * @param pageSize of {@link LoadKind#LIST}
 * @param bodies of requests of {@link LoadKind#CALL}
 * @param headers sent with each request, such as credentials; names and values without line breaks
 */
record LoadPlan(
        LoadKind kind,
        int connections,
        Duration duration,
        Duration warmup,
        Duration timeout,
        long requests,
        String text,
        int tasks,
        int pageSize,
        List<String> bodies,
        Map<String, String> headers) {
    LoadPlan {
        requireNonNull(kind, "kind");
        within("connections", connections, 1, 20_000);
        within("seconds", duration.toSeconds(), 1, 86_400);
        within("warmup", warmup.toSeconds(), 0, 3_600);
        within("timeout", timeout.toSeconds(), 1, 3_600);
        within("requests", requests, 0, Long.MAX_VALUE);
        within("message size", text.length(), 0, 64 << 20);
        within("tasks", tasks, 1, 100_000);
        within("page size", pageSize, 1, 100);
        bodies = List.copyOf(bodies);
        headers = Map.copyOf(headers);
        headers.forEach((name, value) -> {
            if (!name.matches("[!-9;-~]+") || !value.matches("[\\t\\x20-\\x7e]*")) {
                throw new LoadProblem(Kind.USAGE, "header: " + name + " (expected: printable ASCII)");
            }
        });
    }

    private static void within(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new LoadProblem(
                    Kind.USAGE, name + ": " + value + " (expected: " + String.join(" to ", range(least, most)) + ")");
        }
    }

    private static List<String> range(long least, long most) {
        return List.of(Long.toString(least), Long.toString(most));
    }
}
