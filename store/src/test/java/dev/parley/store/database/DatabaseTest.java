package dev.parley.store.database;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.rows.DamagedRows;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.OutageException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("heavy")
final class DatabaseTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private String onDisk() throws IOException {
        var all = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    @ParameterizedTest
    @EnumSource
    void textsComeBackAndAreFoundWithTheCharacterNulInThem(DatabaseKind kind) {
        List<String> texts =
                List.of("", "a", "\0", "a\0b", "\0\0", "\uFDD0", "\uFDD00", "\uFDD0\0001", "\uFDD0\uFDD0\0", "a\1\2");
        try (Database database = new Place(kind, directory).database()) {
            database.migrate("notes", List.of("CREATE TABLE note (t TEXT PRIMARY KEY)"));
            for (String text : texts) {
                database.write(session -> session.update("INSERT INTO note (t) VALUES (?)", text));
            }

            for (String text : texts) {
                assertThat(database.<List<String>>read(session -> session.list(
                                row -> DatabaseSession.text(row, 1), "SELECT t FROM note WHERE t = ?", text)))
                        .containsExactly(text);
            }
        }
    }

    /** A work of a group that writes so many KiB, and notes its group when it is on disk. */
    private static Work insert(String group, int kib, List<String> written, CountDownLatch all) {
        return new Work() {
            @Override
            public void write(DatabaseSession session) throws SQLException {
                session.update("INSERT INTO note (t) VALUES (?)", "x".repeat(kib << 10));
                written.add(group);
            }

            @Override
            public String group() {
                return group;
            }

            @Override
            public void committed() {
                all.countDown();
            }

            @Override
            public void failed(Exception cause) {}
        };
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "T2 a transaction has one heavy work at most, however many groups have some, and a limited weight in all")
    void heavyWorksShareNoTransaction(DatabaseKind kind) throws Exception {
        try (Database database = new Place(kind, directory).database()) {
            database.migrate("notes", List.of("CREATE TABLE note (t TEXT NOT NULL)"));
            List<String> written = new ArrayList<>();
            List<List<String>> transactions = new CopyOnWriteArrayList<>();
            database.listen(new GroupListener() {
                @Override
                public void committed(int works) {
                    transactions.add(List.copyOf(written));
                    written.clear();
                }
            });
            var begun = new CountDownLatch(1);
            var released = new CountDownLatch(1);
            Thread holding = Thread.ofVirtual()
                    .start(() -> database.write(session -> {
                        begun.countDown();
                        try {
                            released.await();
                        } catch (InterruptedException stopped) {
                            Thread.currentThread().interrupt();
                        }
                        return 1;
                    }));
            begun.await();
            var all = new CountDownLatch(3 + 100);
            for (int i = 0; i < 3; i++) {
                database.submit(insert("heavy-" + i, 512, written, all));
            }
            for (int i = 0; i < 100; i++) {
                database.submit(insert("light-" + i, 100, written, all));
            }

            released.countDown();
            holding.join();
            assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();

            assertThat(transactions).allSatisfy(groups -> {
                assertThat(groups.stream()
                                .filter(group -> group.startsWith("heavy"))
                                .count())
                        .isLessThan(2);
                assertThat(groups).hasSizeLessThan(50);
            });
        }
    }

    @Test
    void whatWasRemovedBeforeIsErasedWithTheRest() throws IOException {
        try (Database database = Database.open(directory)) {
            database.migrate(
                    "notes", List.of("CREATE TABLE note (n BIGINT PRIMARY KEY, t TEXT NOT NULL) WITHOUT ROWID"));
            var random = new Random(1);
            for (int round = 0; round < 20; round++) {
                database.write(session -> {
                    for (int i = 0; i < 500; i++) {
                        session.update(
                                "INSERT INTO note (n, t) VALUES (?, ?)",
                                random.nextLong(),
                                "whisper " + random.nextLong());
                    }
                    return session.update("DELETE FROM note WHERE n % 3 <> 0");
                });
            }
            database.write(session -> session.update("UPDATE note SET t = 'aloud ' || n"));
            database.write(session -> session.update("DELETE FROM note WHERE n > 0"));

            database.erase(session -> session.update("DELETE FROM note WHERE n % 2 = 0"));

            assertThat(database.awaitErased(SOON)).isTrue();
            assertThat(onDisk()).contains("aloud").doesNotContain("whisper");
        }
    }

    @Test
    void whatAnOlderReleaseRemovedIsErasedWithTheRestWhileOthersWriteAndTheLogStaysShort() throws Exception {
        try (Database database = Database.open(directory, DatabaseTest::likeAnOlderRelease)) {
            database.migrate("notes", List.of("CREATE TABLE note (n INTEGER PRIMARY KEY, t TEXT NOT NULL)"));
            database.write(session -> session.update("DELETE FROM module_version WHERE module = 'free pages'"));
            for (int i = 0; i < 60; i++) {
                database.write(
                        session -> session.update("INSERT INTO note (t) VALUES (?)", "whisper ".repeat(1 << 17)));
            }
            database.write(session -> session.update("DELETE FROM note"));
            assertThat(onDisk()).contains("whisper");
        }
        try (Database database = Database.open(directory)) {
            database.erase(session -> session.update("DELETE FROM note"));
            long longestWal = 0;
            long ownPages = 0;
            while (!database.awaitErased(Duration.ofMillis(1))) {
                database.write(session -> session.update("INSERT INTO note (t) VALUES ('aloud')"));
                ownPages += 2;
                longestWal = Math.max(longestWal, Files.size(directory.resolve("parley.db-wal")));
            }

            // The log is begun anew from 32 MiB on, before all 60 MiB are in it.
            assertThat(longestWal - ownPages * 4_096).isLessThan(52 << 20);
            assertThat(onDisk()).doesNotContain("whisper");
            assertThat(Files.size(directory.resolve("parley.db"))).isLessThan(66 << 20);
        }
    }

    @Test
    void theWriteAheadLogIsBegunAnewWhileWritersGoOn() throws Exception {
        byte[] text = new byte[16 << 10];
        try (Database database = Database.open(directory);
                ExecutorService writers = Executors.newVirtualThreadPerTaskExecutor()) {
            database.migrate("notes", List.of("CREATE TABLE note (n INTEGER PRIMARY KEY, t BLOB NOT NULL)"));
            var all = new ArrayList<Future<?>>();
            for (int writer = 0; writer < 4; writer++) {
                all.add(writers.submit(() -> {
                    for (int i = 0; i < 3_000; i++) {
                        database.write(session -> session.update("INSERT INTO note (t) VALUES (?)", text));
                    }
                }));
            }
            for (Future<?> writer : all) {
                writer.get();
            }

            // SQLite cuts a log that was longer to this length when it is begun anew, which takes a further write.
            Path log = directory.resolve("parley.db-wal");
            var more = new AtomicInteger();
            Eventually.holds("a log of 64 MiB at most", () -> {
                database.write(session -> session.update("INSERT INTO note (t) VALUES (x'00')"));
                more.incrementAndGet();
                return Files.size(log) <= 64 << 20;
            });
            assertThat(database.<Long>read(session -> session.number("SELECT count(*) FROM note")))
                    .isEqualTo(12_000 + more.get());
        }
    }

    private static Connection likeAnOlderRelease(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA secure_delete=FAST");
        }
        return connection;
    }

    @Test
    void workThatReadsFirstIsNotRefusedBecauseTheLogIsEmptied() {
        try (Database database = Database.open(directory)) {
            database.migrate("notes", List.of("CREATE TABLE note (n INTEGER PRIMARY KEY, t TEXT NOT NULL)"));
            for (int i = 1; i <= 200; i++) {
                int expected = i - 1;
                database.erase(session -> session);
                database.write(session -> {
                    try (ResultSet row =
                            session.bind("SELECT count(*) FROM note").executeQuery()) {
                        assertThat(row.getInt(1)).isEqualTo(expected);
                    }
                    database.awaitErased(Duration.ofMillis(2));
                    return session.update("INSERT INTO note (t) VALUES ('aloud')");
                });
            }
        }
    }

    @Test
    void aLongReaderDelaysOnlyThatTheLogIsEmptied() throws Exception {
        try (Database database = Database.open(directory)) {
            database.migrate("notes", List.of("CREATE TABLE note (n INTEGER PRIMARY KEY, t TEXT NOT NULL)"));
            database.write(session -> session.update("INSERT INTO note (t) VALUES ('whisper')"));
            var reading = new CountDownLatch(1);
            var ended = new CountDownLatch(1);
            Thread reader = Thread.ofVirtual()
                    .start(() -> database.readers(1).snapshot(SOON, session -> {
                        try (ResultSet row =
                                session.bind("SELECT count(*) FROM note").executeQuery()) {
                            assertThat(row.getInt(1)).isOne();
                        }
                        reading.countDown();
                        return await(ended);
                    }));
            assertThat(await(reading)).isTrue();

            int removed = database.erase(session -> session.update("DELETE FROM note"));

            assertThat(removed).isOne();
            assertThat(database.awaitErased(Duration.ofMillis(300))).isFalse();
            for (int i = 0; i < 20; i++) { // nor are writers kept waiting
                database.write(session -> session.update("INSERT INTO note (t) VALUES ('aloud')"));
            }
            ended.countDown();
            reader.join();
            assertThat(database.awaitErased(SOON)).isTrue();
            assertThat(onDisk()).doesNotContain("whisper");
        }
    }

    /** Takes longer than works of a transaction may together. */
    private record Slow(
            List<Integer> written, int number, CountDownLatch begun, CountDownLatch mayGoOn, CountDownLatch done)
            implements Work {
        @Override
        public void write(DatabaseSession session) {
            begun.countDown();
            await(mayGoOn);
            for (long end = System.nanoTime() + 30_000_000; System.nanoTime() - end < 0; ) {
                Thread.onSpinWait();
            }
            written.add(number);
        }

        @Override
        public void committed() {
            done.countDown();
        }

        @Override
        public void failed(Exception cause) {}

        @Override
        public String group() {
            return "hostile";
        }
    }

    @Test
    void aGroupThatWritesMuchDelaysAnotherByOneWork() throws InterruptedException {
        int many = 40;
        var written = new CopyOnWriteArrayList<Integer>();
        var begun = new CountDownLatch(1);
        var mayGoOn = new CountDownLatch(1);
        var done = new CountDownLatch(many);
        try (Database database = Database.open(directory)) {
            for (int i = 0; i < many; i++) {
                database.submit(new Slow(written, i, begun, mayGoOn, done));
            }
            assertThat(await(begun)).isTrue();
            var ordinary = new FutureTask<>(() -> database.write("ordinary", session -> List.copyOf(written)));
            Thread.ofVirtual().start(ordinary);
            mayGoOn.countDown();

            assertThat(ordinary.get()).hasSizeLessThan(many / 2);
            assertThat(await(done)).isTrue();
            assertThat(written).isSorted().hasSize(many);
        } catch (ExecutionException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void anErasureFollowsAllThatWasSubmittedBefore() throws InterruptedException {
        int many = 20;
        var written = new CopyOnWriteArrayList<Integer>();
        var begun = new CountDownLatch(1);
        var mayGoOn = new CountDownLatch(1);
        try (Database database = Database.open(directory)) {
            for (int i = 0; i < many; i++) {
                database.submit(new Slow(written, i, begun, mayGoOn, new CountDownLatch(many)));
            }
            assertThat(await(begun)).isTrue();
            mayGoOn.countDown();

            List<Integer> before = database.erase(session -> List.copyOf(written));

            assertThat(before).hasSize(many);
        }
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(SOON.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void aRowIsNotDamagedBecauseTheDatabaseFailsWhileItIsRead() {
        var rows = new DamagedRows("note");
        try (Database database = Database.open(directory)) {
            assertThatThrownBy(() -> database.read(session -> rows.list(
                            session,
                            row -> {
                                throw new OutageException("the disk is full");
                            },
                            "SELECT 'a'")))
                    .isInstanceOf(OutageException.class);
        }

        assertThat(rows.reasons()).isEmpty();
    }

    @Test
    void whatIsMadeIsItsOwnersAlone() throws IOException {
        Path made = directory.resolve("new");
        Path given = Files.createDirectory(
                directory.resolve("given"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));

        for (Path place : List.of(made, given)) {
            try (Database database = Database.open(place)) {
                database.migrate("notes", List.of("CREATE TABLE note (n BIGINT PRIMARY KEY)"));
                for (String file : List.of("parley.db", "parley.db-wal", "parley.db-shm")) {
                    assertThat(permissions(place.resolve(file))).as(file).isEqualTo("rw-------");
                }
            }
        }

        assertThat(permissions(made)).isEqualTo("rwx------");
        assertThat(permissions(given)).isEqualTo("rwxr-xr-x");
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
