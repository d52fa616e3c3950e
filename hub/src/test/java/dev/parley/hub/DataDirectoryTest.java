package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.parley.engine.Agent;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hub acknowledges nothing that is not in the files at their paths, says why, and loses nothing that it has acknowledged. */
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, disabledReason = "open files cannot be removed everywhere")
@Tag("heavy")
final class DataDirectoryTest {
    private static final String DATABASE = "parley.db";
    private static final String LOG = "parley.db-wal";

    @TempDir
    private Path directory = Path.of("");

    private final List<String> acknowledged = new ArrayList<>();
    private int messages;

    private Path data() {
        return directory.resolve("data");
    }

    private Hub hub() {
        return Hub.builder()
                .data(data())
                .port(0)
                .adminPort(0)
                .agents(Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text())))
                .start();
    }

    /** Sends a message in 1.0 over JSON-RPC; returns the status. */
    private int send(Hub hub) throws Exception {
        String text = "m" + ++messages;
        HttpResponse<String> answer = new Outsider(hub.url())
                .post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{'message':{'messageId':'" + text
                                + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}}",
                        "A2A-Version",
                        "1.0");
        if (answer.statusCode() == 200) {
            assertThat(answer.body()).contains("TASK_STATE_COMPLETED");
            acknowledged.add(text);
        }
        return answer.statusCode();
    }

    private void assertRefused(Hub hub) throws Exception {
        var caller = new Outsider(hub.url());
        String message =
                "{'message':{'messageId':'r" + ++messages + "','role':'ROLE_USER','parts':[{'text':'refused'}]}}";

        assertThat(send(hub)).isEqualTo(503);
        assertThat(caller.post("/agents/echo/message:send", message, "A2A-Version", "1.0"))
                .satisfies(DataDirectoryTest::assertUnavailable);
        assertThat(caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'SendStreamingMessage','params':" + message + "}",
                        "A2A-Version",
                        "1.0"))
                .satisfies(DataDirectoryTest::assertUnavailable);
        assertThat(caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{'id':'r" + ++messages
                                + "','message':{'role':'user','parts':[{'type':'text','text':'refused'}]}}}"))
                .satisfies(DataDirectoryTest::assertUnavailable);
        assertThat(new Outsider(hub.adminUrl()).post("/admin/groups", "{'id':'plant'}"))
                .satisfies(DataDirectoryTest::assertUnavailable);
        assertThat(caller.get("/health").statusCode()).isEqualTo(200);
    }

    private static void assertUnavailable(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
    }

    private static void awaitReady(Hub hub, int status, String reason) throws Exception {
        for (String url : List.of(hub.url(), hub.adminUrl())) {
            new Outsider(url).awaitReady(status, reason);
        }
    }

    /** All acknowledged messages, and no refused one, are in the log of tasks. */
    private void assertComplete(Hub hub) throws Exception {
        String tasks = new Outsider(hub.url())
                .rpc("/agents/echo", "ListTasks", "{'includeArtifacts':true}", "A2A-Version", "1.0")
                .text();
        for (String text : acknowledged) {
            assertThat(tasks).contains("text=" + text + "}");
        }
        assertThat(tasks).doesNotContain("refused");
    }

    private String finding() {
        return Checkup.of(data(), null, null).stream()
                .filter(finding -> finding.check().equals("hub"))
                .map(Checkup.Finding::message)
                .findFirst()
                .orElse("");
    }

    /** A change of the files under a running hub, and its reversal. */
    enum Fault {
        DATABASE_MOVED("parley\\.db in .* is missing", DATABASE) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve(DATABASE), aside);
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.move(aside, data.resolve(DATABASE));
            }
        },
        DATABASE_REPLACED("parley\\.db in .* was replaced by another file", DATABASE) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve(DATABASE), aside);
                Files.copy(aside, data.resolve(DATABASE)); // an older copy: the newer data is in the log
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                assertThat(data.resolve(LOG + ".1")).exists();
                Files.move(aside, data.resolve(DATABASE), StandardCopyOption.REPLACE_EXISTING);
            }
        },
        LOG_MOVED("parley\\.db-wal in .* is missing", LOG) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve(LOG), aside);
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.move(aside, data.resolve(LOG));
            }
        },
        INDEX_MOVED("parley\\.db-shm in .* is missing", null) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve("parley.db-shm"), aside);
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.move(aside, data.resolve("parley.db-shm"));
            }
        },
        DIRECTORY_MOVED("data directory .* is missing", null) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data, aside);
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.move(aside, data);
            }
        },
        KEY_REMOVED("encryption\\.key in .* is missing", null) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve("encryption.key"), aside);
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.copy(aside, data.resolve("encryption.key"));
            }
        },
        SECRET_REPLACED("token\\.secret in .* was replaced", null) {
            @Override
            void happen(Path data, Path aside) throws IOException {
                Files.move(data.resolve("token.secret"), aside);
                Files.copy(data.resolve("webhook.master"), data.resolve("token.secret"));
            }

            @Override
            void pass(Path data, Path aside) throws IOException {
                Files.move(aside, data.resolve("token.secret"), StandardCopyOption.REPLACE_EXISTING);
            }
        };

        private final String reason;
        private final @Nullable String file;

        /** @param file that the transactions are in; null if the fault is found within a second */
        Fault(String reason, @Nullable String file) {
            this.reason = reason;
            this.file = file;
        }

        abstract void happen(Path data, Path aside) throws IOException;

        abstract void pass(Path data, Path aside) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void aFaultOfAFileIsRefusedWithItsReasonAndPasses(Fault fault) throws Exception {
        Path aside = directory.resolve("aside");
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);

            fault.happen(data(), aside);
            if (fault.file != null) {
                assertRefused(hub); // from the first call on
                awaitReady(hub, 503, "the database cannot be written: " + fault.reason);
                assertThat(finding()).contains("refuses changes: ").contains(fault.file);
            } else {
                awaitReady(hub, 503, "the database cannot be written: " + fault.reason);
                assertRefused(hub);
            }
            fault.pass(data(), aside);

            awaitReady(hub, 200, "ready");
            assertThat(send(hub)).isEqualTo(200);
            assertComplete(hub);
        }
        try (Hub again = hub()) {
            assertThat(send(again)).isEqualTo(200);
            assertComplete(again);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"LOG_MOVED", "INDEX_MOVED"})
    void aLogThatIsGoneIsMovedToTheDatabaseBeforeTheHubEnds(Fault fault) throws Exception {
        Path killed = Files.createDirectory(directory.resolve("killed"));
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);
            fault.happen(data(), directory.resolve("aside"));
            awaitReady(hub, 503, "a restart, which loses nothing");
            assertRefused(hub);

            for (String name : List.of(DATABASE, "encryption.key", "token.secret", "webhook.master")) {
                Process copied = new ProcessBuilder("cp", data().resolve(name).toString(), killed.toString())
                        .start(); // closing a file in this process would end SQLite's locks on it
                assertThat(copied.waitFor()).isZero();
            }
        }
        try (Hub again = hub()) {
            assertComplete(again);
            assertThat(send(again)).isEqualTo(200);
        }
        Files.move(data(), directory.resolve("stopped"));
        Files.move(killed, data());
        acknowledged.removeLast();
        try (Hub again = hub()) {
            assertComplete(again);
        }
    }

    @Test
    void aRemovedDatabaseIsNotBegunAnewBesideItsLog() throws Exception {
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);
            Files.delete(data().resolve(DATABASE));
            assertRefused(hub);
            awaitReady(hub, 503, "parley\\.db in .* is missing");
            assertThat(Files.exists(data().resolve(DATABASE))).isFalse();
        }
        assertThatThrownBy(this::hub)
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("parley.db is missing or empty, but parley.db-wal has data of it");
        assertThat(data().resolve(LOG)).isNotEmptyFile();
    }

    /** Ways of changing the content of a file that stays the same file. */
    enum Overwriting {
        ANOTHER_DATABASE(DATABASE) {
            @Override
            byte[] content(Path older) throws IOException {
                return Files.readAllBytes(older);
            }
        },
        EMPTY_DATABASE(DATABASE) {
            @Override
            byte[] content(Path older) {
                return new byte[0];
            }
        },
        NO_DATABASE(DATABASE) {
            @Override
            byte[] content(Path older) {
                return "no database at all".getBytes(StandardCharsets.UTF_8);
            }
        },
        EMPTY_LOG(LOG) {
            @Override
            byte[] content(Path older) {
                return new byte[0];
            }
        };

        private final String file;

        Overwriting(String file) {
            this.file = file;
        }

        abstract byte[] content(Path older) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void anOverwrittenFileIsRefusedUntilARestartAndNotWrittenTo(Overwriting overwriting) throws Exception {
        try (Hub earlier = hub()) {
            assertThat(send(earlier)).isEqualTo(200);
        }
        Path older = Files.copy(data().resolve(DATABASE), directory.resolve("older.db"));
        byte[] content = overwriting.content(older);
        Path file = data().resolve(overwriting.file);
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);

            Files.write(directory.resolve("content"), content);
            Process overwritten =
                    new ProcessBuilder("cp", directory.resolve("content").toString(), file.toString()).start();
            assertThat(overwritten.waitFor()).isZero();

            assertRefused(hub);
            awaitReady(hub, 503, overwriting.file + " in .* was overwritten by another program");
            assertThat(new Outsider(hub.url())
                            .post(
                                    "/agents/echo",
                                    "{'jsonrpc':'2.0','id':1,'method':'ListTasks','params':{}}",
                                    "A2A-Version",
                                    "1.0"))
                    .satisfies(DataDirectoryTest::assertUnavailable);
        }
        assertThat(data().resolve(LOG)).doesNotExist(); // it would be applied to the file at the next start
        if (overwriting.file.equals(DATABASE)) {
            assertThat(file).hasBinaryContent(content);
        }
    }

    @Test
    void aRemovedLockIsTakenAgainAndAReplacedOneEndsWriting() throws Exception {
        Path lock = data().resolve("parley.lock");
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);
            Files.delete(lock);
            Eventually.holds("the lock exists", () -> {
                assertThat(send(hub)).isEqualTo(200);
                return Files.exists(lock);
            });
            assertThatThrownBy(this::hub).isInstanceOf(InUseException.class);

            Files.delete(lock);
            Files.createFile(lock);
            awaitReady(hub, 503, "parley\\.lock in .* was replaced, so another hub may use the directory");
            assertRefused(hub);
        }
    }

    @Test
    void aVolumeThatIsGoneOrReadOnlyIsRefused() throws Exception {
        Path data = Files.createDirectory(data());
        assumeTrue(ran("mount", "-t", "tmpfs", "-o", "size=50m", "none", data), "needs the right to mount");
        try (Hub hub = hub()) {
            assertThat(send(hub)).isEqualTo(200);

            assertThat(ran("mount", "-t", "tmpfs", "none", data)).isTrue(); // hides the first one
            assertRefused(hub);
            awaitReady(hub, 503, "parley\\.db in .* is missing");
            assertThat(ran("umount", data)).isTrue();
            awaitReady(hub, 200, "ready");
            assertThat(send(hub)).isEqualTo(200);
            assertComplete(hub);

            assertThat(ran("mount", "--bind", data, data)).isTrue();
            assertThat(ran("mount", "-o", "remount,bind,ro", data)).isTrue();
            awaitReady(hub, 503, "parley\\.db in .* may not be written any more");
            assertRefused(hub);
            assertThat(ran("umount", data)).isTrue();
            awaitReady(hub, 200, "ready");
            assertThat(send(hub)).isEqualTo(200);
            assertComplete(hub);

            assertThat(ran("umount", "-l", data)).isTrue();
            assertRefused(hub);
            awaitReady(hub, 503, "parley\\.db in .* is missing");
        } finally {
            while (ran("umount", "-l", data)) {
                // all that are left
            }
        }
    }

    private static boolean ran(Object... command) throws InterruptedException {
        try {
            return new ProcessBuilder(Stream.of(command).map(Object::toString).toList())
                            .redirectErrorStream(true)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }
}
