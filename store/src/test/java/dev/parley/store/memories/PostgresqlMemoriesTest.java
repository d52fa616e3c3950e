package dev.parley.store.memories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.Memories;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import java.time.InstantSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Memories in PostgreSQL. */
@Tag("heavy")
final class PostgresqlMemoriesTest extends JdbcMemoriesTest {
    @Override
    Database open() throws Exception {
        return Database.open(PostgresqlServer.schema());
    }

    @Test
    void hubsThatShareTheDatabaseGoOnWithTheMemoriesOfEachOther() {
        var schema = new SharedSchema();
        var key = new Memories.Key(new Scope("T1", "alice"), "desk", "c1");
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var here = new JdbcMemories(one, InstantSource.system(), EncryptionAtRest.PLAIN);
            var there = new JdbcMemories(other, InstantSource.system(), EncryptionAtRest.PLAIN);

            here.write(key, "one", () -> true);
            assertThat(there.read(key)).contains("one");
            there.write(key, "one, two", () -> true);

            assertThat(here.read(key)).contains("one, two");
            assertThat(here.removeUnchanged(InstantSource.system().instant().plusSeconds(1), 10))
                    .isEqualTo(1);
            assertThat(there.read(key)).isEmpty();
        }
    }
}
