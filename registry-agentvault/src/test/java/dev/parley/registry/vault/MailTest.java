package dev.parley.registry.vault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.MessageFormat;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Mails to accounts without a mail server, over HTTP. */
@Timeout(60)
final class MailTest {
    private static final String CHECK = "Registration successful. Please check your email to verify your account.";
    private static final String SKIPPED =
            "Registration successful (email verification skipped due to server config). Contact admin if needed.";

    @TempDir
    Path directory;

    private static String register(String mail, String name) throws Exception {
        var builder = Hub.builder().inMemory().port(0);
        try (Hub hub = (mail.isEmpty() ? builder : builder.set("registry-mail", mail)).start()) {
            return new Api(hub.url())
                    .register(name, "secret-of-" + name)
                    .is(201)
                    .text("message");
        }
    }

    @Test
    @DisplayName("D6 AV15: only a hub that drops mails says that the verification is skipped")
    void theAnswerTellsWhetherAMailIsWritten() throws Exception {
        assertThat(register("", "alice")).isEqualTo(SKIPPED);
        assertThat(register(directory.toString(), "bob")).isEqualTo(CHECK);
        assertThat(register("log", "carol")).isEqualTo(CHECK);
    }

    @Test
    @DisplayName("D6 AV15: mails in the log are of the level that is printed by default")
    void mailsInTheLogArePrinted() throws Exception {
        var lines = new LinkedBlockingQueue<String>();
        Logger log = Logger.getLogger("dev.parley.registry");
        var handler = new Handler() {
            @Override
            public void publish(LogRecord row) {
                if (row.getLevel().intValue() >= Level.WARNING.intValue()) {
                    lines.add(MessageFormat.format(row.getMessage(), row.getParameters()));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(handler);
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-mail", "log").start()) {
            new Api(hub.url()).register("dave", "secret-of-dave").is(201);

            assertThat(lines.poll(30, TimeUnit.SECONDS)).contains("dave@example.com", "/auth/verify-email?token=");
        } finally {
            log.removeHandler(handler);
        }
    }

    @Test
    @DisplayName("D6 AV15: mails in a directory hold the link of the verification")
    void mailsInADirectory() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-mail", directory.toString())
                .start()) {
            new Api(hub.url()).register("erin", "secret-of-erin").is(201);

            List<Path> mails = Eventually.value("a mail", this::mails, found -> !found.isEmpty());
            assertThat(Files.readString(mails.getFirst())).contains("erin@example.com", "/auth/verify-email?token=");
        }
    }

    private List<Path> mails() throws Exception {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".eml")).toList();
        }
    }
}
