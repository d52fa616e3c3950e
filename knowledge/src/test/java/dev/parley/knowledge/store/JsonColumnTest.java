package dev.parley.knowledge.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** JSON of callers, which PostgreSQL is to read beside that of others. */
final class JsonColumnTest {
    @Test
    void halvesOfPairsAreReplacedAndAllElseIsKept() {
        String text = "a\uD800b \uDC00\uD800 \uD83D\uDE00 \\uD800 \\\\uD800 \\";

        String column = JsonColumn.of(Map.of("text", text));

        assertThat(JsonColumn.object(column))
                .containsEntry("text", "a\uFFFDb \uFFFD\uFFFD \uD83D\uDE00 \\uD800 \\\\uD800 \\");
    }

    @ParameterizedTest
    @CsvSource({"D800", "DBFF", "DC00", "DFFF"})
    @Tag("heavy")
    void postgresqlReadsAMemberBesideATextThatIsNotUnicode(String half) throws IOException {
        String column = JsonColumn.of(
                Map.of("justification", Character.toString((char) Integer.parseInt(half, 16)), "recordedBy", "alice"));

        try (Database database = Database.open(PostgresqlServer.schema())) {
            Optional<String> recordedBy = database.read(session -> session.first(
                    row -> DatabaseSession.text(row, 1), "SELECT CAST(? AS JSON) ->> 'recordedBy'", column));

            assertThat(recordedBy).contains("alice");
        }
    }
}
