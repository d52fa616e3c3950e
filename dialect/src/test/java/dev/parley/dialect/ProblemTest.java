package dev.parley.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.answers.Problem;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.TemporaryFailure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ProblemTest {
    private static final Logger LOGGER = Logger.getLogger("dev.parley.dialect");

    private static final class FullDisk extends RuntimeException implements TemporaryFailure {
        private static final long serialVersionUID = 1L;

        FullDisk() {
            super("disk full");
        }
    }

    private static final class Log extends Handler {
        final List<LogRecord> records = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord entry) {
            records.add(entry);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private final Log log = new Log();

    @BeforeEach
    void listen() {
        LOGGER.addHandler(log);
    }

    @AfterEach
    void hush() {
        LOGGER.removeHandler(log);
    }

    @Test
    void callsThatAFullDiskRefusesAreNotLoggedOneByOne() {
        for (int i = 0; i < 100; i++) {
            A2AException unwritten = A2AException.unavailable("The task could not be written", Duration.ofSeconds(1))
                    .causedBy(new FullDisk());
            assertThat(Problem.of(unwritten)).isSameAs(unwritten);
            assertThat(Problem.of(new IllegalStateException(new FullDisk())).error())
                    .isEqualTo(A2AError.UNAVAILABLE);
        }

        assertThat(log.records)
                .hasSizeLessThanOrEqualTo(2) // one a minute, and a minute may begin meanwhile
                .allSatisfy(entry -> assertThat(entry.getLevel()).isEqualTo(Level.WARNING));
    }

    @Test
    void aFaultIsLoggedForEachCall() {
        for (int i = 0; i < 3; i++) {
            Problem.of(new IllegalStateException("fault"));
            Problem.of(A2AException.unavailable("Broken", Duration.ofSeconds(1))
                    .causedBy(new IllegalStateException("fault")));
        }

        assertThat(log.records)
                .hasSize(6)
                .allSatisfy(entry -> assertThat(entry.getLevel()).isEqualTo(Level.SEVERE));
    }
}
