package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.TaskState;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.SettableClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A clock that is wrong, at the start or for a while, removes nothing. */
@Timeout(60)
final class WrongClockTest {
    private static final Duration YEARS = Duration.ofDays(1_000);

    @TempDir
    Path directory = Path.of("");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private Instant written;

    @BeforeEach
    void writeAnEndedTask() {
        written = clock.instant();
        try (Store store = open()) {
            write(store, "old");
        }
    }

    private Store open() {
        return Store.open(directory, clock, EncryptionAtRest.PLAIN);
    }

    private void write(Store store, String id) {
        var key = new TaskKey(CallContext.anonymous().scope(), "agent", id);
        var message = new MessageKey(key.scope(), "agent", "message of " + id);
        Segments.write(store.log(), key, 1, TaskState.COMPLETED, clock.instant(), message);
    }

    private static long messages(Store store) {
        return store.database().read(session -> {
            try (ResultSet row = session.bind("SELECT count(*) FROM message").executeQuery()) {
                return row.getLong(1);
            }
        });
    }

    @Test
    void aClockThatIsYearsAheadAtTheStartForgetsNoMessages() {
        clock.advance(YEARS);
        try (Store store = open()) {
            write(store, "new");

            assertThat(messages(store)).isEqualTo(2);
        }
    }

    @Test
    void aClockThatJumpsAheadForgetsNoMessages() {
        try (Store store = open()) {
            clock.advance(Duration.ofDays(20));
            write(store, "new");

            assertThat(messages(store)).isEqualTo(2);
        }
    }

    @Test
    void aMessageThatIsRepeatedAfterAJumpOfTheClockLeadsToItsTask() {
        var old = new MessageKey(CallContext.anonymous().scope(), "agent", "message of old");
        var later = new MessageKey(CallContext.anonymous().scope(), "agent", "message of new");
        try (Store store = open()) {
            clock.advance(Duration.ofDays(2));
            assertThat(store.log().taskOf(old)).contains("old");
            write(store, "new");

            clock.advance(Duration.ofDays(-5));
            assertThat(store.log().taskOf(old)).contains("old");
            assertThat(store.log().taskOf(later)).contains("new");
        }
    }

    @Test
    void messagesAreForgottenByAClockThatIsPlausible() {
        clock.advance(Duration.ofDays(20));
        try (Store store = open()) {
            write(store, "new");

            assertThat(messages(store)).isOne();
        }
    }

    @Test
    void aClockThatIsYearsAheadAtTheStartRemovesNoTasks() throws Exception {
        clock.advance(YEARS);
        var removing = new CompletableFuture<Instant>();
        TaskLog log = open().log();
        TaskLog watched = (TaskLog) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {TaskLog.class}, (self, method, arguments) -> {
                    if (method.getName().equals("removeEnded")) {
                        removing.complete((Instant) arguments[0]);
                    }
                    try {
                        return method.invoke(log, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        try (Engine engine = Engine.builder(watched)
                .clock(clock)
                .retention(Duration.ofDays(30))
                .build()) {
            assertThat(removing.get(30, TimeUnit.SECONDS)).isBefore(written);
            assertThat(engine.unreadable()).isEmpty();
        }
    }

    @Test
    void theNewestEventOfAnEarlierRunIsKnown() {
        clock.advance(Duration.ofHours(1));
        try (Store store = open()) {
            assertThat(store.log().newest()).contains(written);
            write(store, "new");
            assertThat(store.log().newest()).contains(written);
        }
    }
}
