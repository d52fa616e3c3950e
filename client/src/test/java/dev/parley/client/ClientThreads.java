package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test that leaves threads of clients, of the platform or virtual ones. */
final class ClientThreads implements BeforeEachCallback, AfterEachCallback {
    private static final List<String> NAMES = List.of("http-", "parley-", "idle-");

    private List<String> ofOthers = List.of();

    @Override
    public void beforeEach(ExtensionContext test) {
        ofOthers = threads();
    }

    @Override
    public void afterEach(ExtensionContext test) {
        Eventually.asserted(
                "threads of closed clients end", () -> assertThat(left()).isEmpty());
    }

    private List<String> left() {
        return threads().stream().filter(thread -> !ofOthers.contains(thread)).toList();
    }

    private static List<String> threads() {
        return running().stream()
                .filter(thread -> NAMES.stream().anyMatch(thread.getName()::startsWith))
                .map(thread -> thread.threadId() + " " + thread.getName())
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
