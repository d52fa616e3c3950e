package dev.parley.registry.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.spi.Publication;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers of entries and changes when more than one registry writes to a database, each with a memory of its own. */
@Timeout(120)
final class SeveralWritersTest {
    private static final CallContext ANNA = CallContext.of("anna", new CallContext.Scope("blue", "anna"));

    @TempDir
    private Path directory;

    private @Nullable DataSource server;

    private @Nullable Database database;

    private void open(DatabaseKind kind) throws IOException {
        server = kind == DatabaseKind.POSTGRESQL ? PostgresqlServer.schema() : null;
        database = server == null ? Database.open(directory) : Database.open(server);
    }

    private Database database() {
        return Objects.requireNonNull(database, "opened first by each test");
    }

    @AfterEach
    void close() {
        database().close();
    }

    private Entries entries() {
        return Entries.open(
                database(),
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
    }

    private static Entry register(Entries entries, String name) {
        return entries.publisher()
                .publish(
                        new Publication(
                                null,
                                Entry.AGENT_CARD,
                                Cards.v1(name, "add").getBytes(StandardCharsets.UTF_8),
                                null,
                                null,
                                Visibility.PUBLIC,
                                null,
                                List.of(),
                                Map.of()),
                        ANNA);
    }

    private long number(String sql) {
        return database().read(session -> session.number(sql));
    }

    private List<String> numbers() {
        return database()
                .read(session -> session.list(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT CAST(e.number AS TEXT) || ' ' || CAST(c.number AS TEXT) FROM registry_entry e"
                                + " JOIN registry_change c ON c.entry = e.number ORDER BY c.number"));
    }

    @ParameterizedTest
    @EnumSource
    void registriesThatWriteByTurnsNumberEntriesAndChangesOnce(DatabaseKind kind) throws IOException {
        open(kind);
        Entries one = entries();
        Entries other = entries();
        var changes = new ArrayList<Long>();
        for (int round = 0; round < 4; round++) {
            changes.add(register(one, "One " + round).state().change());
            changes.add(register(other, "Other " + round).state().change());
        }

        assertThat(changes).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
        assertThat(number("SELECT count(DISTINCT number) FROM registry_entry")).isEqualTo(8);
        assertThat(number("SELECT change FROM registry_newest")).isEqualTo(8);
        assertThat(one.changes().log().newest()).isEqualTo(8);
    }

    /** Waits until a publication waits for a transaction of another hub, and ends that. */
    private Entry whileItWaits(Connection another, Supplier<Entry> publication) throws Exception {
        var published = new CompletableFuture<Entry>();
        Thread.ofVirtual().start(() -> {
            try {
                published.complete(publication.get());
            } catch (Throwable failure) {
                published.completeExceptionally(failure);
            }
        });
        Eventually.holds(
                "the hub waits for the other transaction",
                () -> published.isDone() || number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
        assertThat(published).isNotDone();
        another.commit();
        return published.get(60, TimeUnit.SECONDS);
    }

    @Test
    void anEntryIsNumberedBehindTheOneOfAnotherHubAndHasAnotherId() throws Exception {
        open(DatabaseKind.POSTGRESQL);
        Entries entries = entries();
        Entry first = register(entries, "alpha");
        try (Connection another = Objects.requireNonNull(server).getConnection()) {
            another.setAutoCommit(false);
            another.createStatement().execute("""
                    UPDATE registry_newest SET change = change + 1;
                    INSERT INTO registry_entry (id, name, group_id, owner, visibility, status, change, content)
                        SELECT replace(id, 'alpha', 'beta'), 'beta', 'blue', 'ben', 2, status, change + 1,
                            convert_to(replace(replace(convert_from(content, 'UTF8'), 'alpha', 'beta'), 'anna', 'ben'), 'UTF8')
                        FROM registry_entry;
                    INSERT INTO registry_change (number, entry, at_ms, kind, group_id, owner, visibility, details)
                        SELECT change, number, 0, 'registered', group_id, owner, visibility, '{}' FROM registry_entry WHERE name = 'beta'
                    """);

            Entry entry = whileItWaits(another, () -> register(entries, "beta"));

            assertThat(entry.state().change()).isEqualTo(first.state().change() + 2);
            assertThat(entry.id()).isEqualTo(first.id().replace("alpha", "beta") + "-2");
            assertThat(number("SELECT count(DISTINCT number) FROM registry_entry"))
                    .isEqualTo(3);
            assertThat(entries.reader().find(first.id().replace("alpha", "beta"), ANNA))
                    .map(found -> found.ownership().principal())
                    .contains("ben");
        }
    }

    @ParameterizedTest
    @EnumSource
    void rowsOfAnEarlierSchemaKeepTheirNumbers(DatabaseKind kind) throws IOException {
        open(kind);
        Entries before = entries();
        register(before, "alpha");
        register(before, "beta");
        List<String> numbers = numbers();
        database().write(session -> {
            session.once("DROP TABLE registry_newest");
            if (kind == DatabaseKind.POSTGRESQL) {
                session.once("ALTER TABLE registry_entry ALTER COLUMN number DROP IDENTITY");
            }
            return session.update("UPDATE module_version SET version = 6 WHERE module = 'registry'");
        });

        Entry third = register(entries(), "gamma");

        assertThat(third.state().change()).isEqualTo(3);
        assertThat(numbers()).startsWith(numbers.toArray(String[]::new)).hasSize(3);
        assertThat(number("SELECT count(DISTINCT number) FROM registry_entry")).isEqualTo(3);
    }
}
