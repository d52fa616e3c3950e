package dev.parley.mcp.client;

import dev.parley.testkit.Eventually;
import java.util.List;
import java.util.stream.Stream;

/** Threads of clients, of the platform and virtual ones. */
public final class Leftovers {
    private Leftovers() {}

    /** Waits for the end of the threads of closed clients. */
    public static void assertNone() {
        Eventually.value("no threads of closed clients", () -> threads(), List::isEmpty);
    }

    private static List<String> threads() {
        return running().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("mcp-") || name.startsWith("http-call"))
                .toList();
    }

    /**
     * All threads of the process, virtual ones included. A thread dump would snapshot their stacks, which crashes JDK 25 now and then
     * while one of them ends.
     */
    private static List<Thread> running() {
        try {
            Object root = Class.forName("jdk.internal.vm.ThreadContainers")
                    .getMethod("root")
                    .invoke(null);
            return below(Class.forName("jdk.internal.vm.ThreadContainer"), root).toList();
        } catch (ReflectiveOperationException missing) {
            throw new LinkageError("threads of the process cannot be listed", missing);
        }
    }

    private static Stream<Thread> below(Class<?> type, Object container) throws ReflectiveOperationException {
        Stream<Thread> threads = ((Stream<?>) type.getMethod("threads").invoke(container)).map(Thread.class::cast);
        for (Object child : ((Stream<?>) type.getMethod("children").invoke(container)).toList()) {
            threads = Stream.concat(threads, below(type, child));
        }
        return threads;
    }
}
