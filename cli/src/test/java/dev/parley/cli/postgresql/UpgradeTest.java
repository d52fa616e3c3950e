package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.admin.Hubs;
import dev.parley.store.shared.Release;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs in processes of their own that are exchanged one by one for those of the next release, and back, while clients call them. */
@Tag("heavy")
@Tag("measured")
@Timeout(900)
final class UpgradeTest {
    /** A hub that stops closes connections between two calls, and a call may just begin. Its message id makes it safe to repeat. */
    private static final String CLOSED = "header parser received no bytes";

    private static final String OLD = System.getProperty("java.class.path");
    private static final int SENDERS = 3;
    private static final Duration START = Duration.ofMinutes(3);
    private static final String LEVEL = "\"level\":%d,\"role\":\"works\"";

    @TempDir
    private Path directory;

    private final List<Member> members = new ArrayList<>();

    /** A hub at a port, with a directory of its own, of one release after another. */
    private final class Member {
        private final Path home = directory.resolve("hub" + members.size());
        private final int port = DebianPostgresql.freePort();
        private final String database;
        private HubProcess process;

        Member(String database) throws IOException {
            this.database = database;
            members.add(this);
            launch(OLD);
        }

        void launch(String classPath) throws IOException {
            process = HubProcess.share(
                    classPath, home, members.getFirst().home.resolve("data"), database, port, "--drain", "5s");
        }

        /** Stops the hub, as operators do, and starts one of another release in its place. */
        void exchange(String classPath) throws IOException, InterruptedException {
            process.signal("TERM");
            assertThat(process.exitStatus()).as(process.log()).isZero();
            launch(classPath);
            awaitReady();
        }

        HubCalls calls() {
            return new HubCalls("http://127.0.0.1:" + port);
        }

        void awaitReady() {
            Eventually.within(
                    START,
                    "hub " + port + " works: " + process.log(),
                    () -> calls().ready().status() == Answer.OK);
        }
    }

    /** What a command has printed, and its status. */
    private record Result(int status, String text) {}

    @AfterEach
    void close() {
        members.forEach(member -> member.process.close());
    }

    private Result finish(String classPath, String database) throws IOException, InterruptedException {
        Path text = directory.resolve("finish.txt");
        var command = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Duser.home=" + directory,
                        "-cp",
                        classPath,
                        "dev.parley.cli.Main",
                        "migrate",
                        "--finish",
                        "--to",
                        database)
                .redirectErrorStream(true)
                .redirectOutput(text.toFile());
        command.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA)_.*|JDK_JAVA_OPTIONS"));
        int status = command.start().waitFor();
        return new Result(status, Files.readString(text));
    }

    private void start(String database) throws IOException {
        new Member(database).awaitReady();
        new Member(database);
        new Member(database);
        members.forEach(Member::awaitReady);
    }

    private String hubs() {
        return members.getFirst().calls().get("/admin/hubs").body();
    }

    /** Whether a client with {@code deduplicates(true)} repeats the call by itself. */
    private static boolean isRepeated(Answer answer) {
        return answer.status() == Answer.NONE
                        && (answer.body().contains("ConnectException")
                                || answer.body().contains(CLOSED))
                || answer.status() == Answer.UNAVAILABLE && !answer.body().startsWith(Answer.WITHOUT_TIME);
    }

    @Test
    void hubsAreExchangedOneByOneAndBackUnderLoad() throws Exception {
        String next = NextRelease.classPath(directory);
        try (DatabaseServer server = DatabaseServer.primary()) {
            start(server.url());
            long begun = System.nanoTime();
            try (var senders = new Senders(
                    new HubCalls(members.stream()
                            .map(member -> "http://127.0.0.1:" + member.port)
                            .toArray(String[]::new)),
                    SENDERS)) {
                senders.await(20);
                members.get(0).exchange(next);
                members.get(1).exchange(next);
                senders.await(20);
                assertThat(hubs())
                        .contains(LEVEL.formatted(Release.newest()), LEVEL.formatted(NextRelease.LEVEL))
                        .contains("\"" + NextRelease.VERSION + "\"", "\"" + Hubs.version() + "\"");

                Result early = finish(next, server.url());

                assertThat(early.status()).as(early.text).isNotZero();
                assertThat(early.text).contains("the upgrade cannot be finished: hub ", "understands level 1");
                members.get(2).exchange(next);
                for (Member back : members.subList(0, Promise.LONG ? 3 : 1)) {
                    back.exchange(OLD);
                    senders.await(20);
                }
                for (Member again : members.subList(0, Promise.LONG ? 3 : 1)) {
                    again.exchange(next);
                }
                senders.await(20);

                Result finished = finish(next, server.url());

                assertThat(finished.status()).as(finished.text).isZero();
                assertThat(finished.text).contains("Level: 2").contains("task");
                senders.await(20);
                assertThat(senders.since(begun).filter(answer -> answer.status() != Answer.OK && !isRepeated(answer)))
                        .as("errors that a client does not repeat by itself")
                        .isEmpty();
                senders.verify();
            }
            members.getFirst().process.close();
            members.getFirst().launch(OLD);

            assertThat(members.getFirst().process.exitStatus()).isNotZero();
            assertThat(members.getFirst().process.log())
                    .contains("the database has level 2", "this program understands level 1");
            assertThat(server.number("SELECT count(remark) FROM task")).isZero();
        }
    }
}
