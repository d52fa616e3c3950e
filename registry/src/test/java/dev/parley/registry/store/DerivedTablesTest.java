package dev.parley.registry.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.spi.DerivedTable;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.spi.Publication;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables of extensions in a database that registries with and without the extension write by turns. */
@Timeout(120)
@Tag("heavy")
final class DerivedTablesTest {
    private static final CallContext ANNA = CallContext.of("anna", new CallContext.Scope("blue", "anna"));
    private static final CallContext ANYONE = CallContext.unauthenticated("green");
    private static final DerivedTable TABLE = new DerivedTable("derived_name", "number", "change");

    @TempDir
    private Path directory;

    private @Nullable Database database;

    private Database database() {
        return Objects.requireNonNull(database, "opened first by each test");
    }

    private void open(DatabaseKind kind) throws IOException {
        database =
                kind == DatabaseKind.POSTGRESQL ? Database.open(PostgresqlServer.schema()) : Database.open(directory);
        database().migrate("derived-names", List.of("""
                CREATE TABLE derived_name (number KEY PRIMARY KEY, change BIGINT NOT NULL, name TEXT NOT NULL)
                """));
    }

    @AfterEach
    void close() {
        if (database != null) {
            database.close();
        }
    }

    /** Keeps the names of entries. */
    private static final class Names implements EntryListener {
        private int changes;

        @Override
        public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
            changes++;
            erased(session, number);
            session.update(
                    "INSERT INTO derived_name (number, change, name) VALUES (?, ?, ?)",
                    number,
                    now.state().change(),
                    now.resource().name());
        }

        @Override
        public void erased(DatabaseSession session, long number) throws SQLException {
            session.update("DELETE FROM derived_name WHERE number = ?", number);
        }
    }

    private Entries without() {
        return Entries.open(
                database(),
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
    }

    private Entries with(EntryListener names) {
        Entries entries = without();
        entries.derive(TABLE, names);
        return entries;
    }

    private static Entry register(Entries entries, String name) {
        return register(entries, name, Visibility.PUBLIC);
    }

    private static Entry register(Entries entries, String name, Visibility visibility) {
        return entries.publish(
                new Publication(
                        null,
                        Entry.AGENT_CARD,
                        Cards.v1(name, "add").getBytes(StandardCharsets.UTF_8),
                        null,
                        null,
                        visibility,
                        null,
                        List.of(),
                        Map.of()),
                ANNA);
    }

    private static void hide(Entries entries, Entry entry) {
        entries.writer()
                .change(
                        entry.id(),
                        EntryChange.Kind.CHANGED,
                        Map.of(),
                        ANNA,
                        now -> now.with(new Ownership("blue", "anna", Visibility.PRIVATE)));
    }

    private List<String> kept() {
        return names("1 = 1");
    }

    private List<String> seen(Entries entries, CallContext viewer) {
        Conditions seen = entries.seen(TABLE, viewer);
        return names(seen.where(), seen.values().toArray());
    }

    private List<String> names(String where, @Nullable Object... values) {
        return database()
                .read(session -> session.list(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT name FROM derived_name WHERE " + where + " ORDER BY name",
                        values));
    }

    @ParameterizedTest
    @EnumSource
    void aNewTableGetsAllEntriesPageByPage(DatabaseKind kind) throws IOException {
        open(kind);
        Entries before = without();
        for (int i = 0; i < 210; i++) {
            register(before, "agent " + i);
        }
        Entries entries = with(new Names());

        entries.changes().derived().catchUp();

        assertThat(kept()).hasSize(210);
        assertThat(seen(entries, ANYONE)).hasSize(210);
    }

    @ParameterizedTest
    @EnumSource
    void rowsOfEntriesThatChangedWithoutTheTableAreNotSeen(DatabaseKind kind) throws IOException {
        open(kind);
        Entries entries = with(new Names());
        Entry hidden = register(entries, "hidden");
        register(entries, "open");
        assertThat(seen(entries, ANYONE)).containsExactly("hidden", "open");

        Entries other = without();
        hide(other, hidden);

        assertThat(kept()).containsExactly("hidden", "open");
        assertThat(seen(entries, ANYONE)).containsExactly("open");
        assertThat(seen(entries, ANNA)).containsExactly("open");
        Entries later = with(new Names());
        later.changes().derived().catchUp();
        assertThat(seen(later, ANYONE)).containsExactly("open");
        assertThat(seen(later, ANNA)).containsExactly("hidden", "open");
    }

    @ParameterizedTest
    @EnumSource
    void rowsOfErasedEntriesAreRemoved(DatabaseKind kind) throws IOException {
        open(kind);
        Entries first = with(new Names());
        register(first, "one", Visibility.PRIVATE);
        register(first, "two", Visibility.PRIVATE);
        without().writer().eraseOwned("blue", "anna", "erased-1");
        assertThat(kept()).containsExactly("one", "two");

        Entries entries = with(new Names());
        entries.changes().derived().catchUp();

        assertThat(kept()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void entriesThatTheTableHasAreNotDerivedAgain(DatabaseKind kind) throws IOException {
        open(kind);
        Entries entries = with(new Names());
        entries.changes().derived().catchUp();
        register(entries, "one");
        register(entries, "two");
        register(without(), "three");
        register(entries, "four");
        var names = new Names();

        with(names).changes().derived().catchUp();

        assertThat(names.changes).isEqualTo(2);
        assertThat(kept()).containsExactly("four", "one", "three", "two");
        var none = new Names();
        with(none).changes().derived().catchUp();
        assertThat(none.changes).isZero();
    }

    @Test
    void aTableThatSqlWouldNotTakeUnquotedIsRefused() {
        assertThatThrownBy(() -> new DerivedTable("names; DROP TABLE registry_entry", "number", "change"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "derived table \"names; DROP TABLE registry_entry\": invalid name (expected: a-z, 0-9 and _)");
    }
}
