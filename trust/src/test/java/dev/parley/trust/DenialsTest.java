package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class DenialsTest {
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-01-01T00:00:00Z"));

    @TempDir
    private Path directory;

    private static CallContext caller(String name, String group) {
        return CallContext.of(name, new CallContext.Scope(group, name));
    }

    @Test
    void refusedCallsOfAGroupOrOfAnonymousCallersHideNoneOfOthers() {
        try (Database database = Database.open(directory)) {
            AuditTrail audit = AuditTrail.in(database, CLOCK);
            var denials = new Denials(audit, CLOCK);
            for (int i = 0; i < 1_000; i++) {
                denials.note(caller("mallory", "crowd"), "echo", "SendMessage", "", "not permitted");
                denials.note(CallContext.anonymous(), "echo", "SendMessage", "", "no credentials");
            }

            denials.note(caller("alice", "shop"), "echo", "SendMessage", "", "not permitted");
            denials.note(caller("bob", "default"), "echo", "SendMessage", "", "not permitted");

            // The works of a group are written in their order.
            for (String group : List.of("crowd", "default", "shop")) {
                int rows = database.write(group, session -> session.update("DELETE FROM module_version WHERE 0"));
                assertThat(rows).isZero();
            }
            List<AuditRow> written = audit.rows(Filter.ALL, 0, 1_000);
            assertThat(written).extracting(row -> row.entry().actor()).contains("alice", "bob");
            assertThat(written)
                    .filteredOn(row -> row.entry().actor().equals("mallory"))
                    .hasSize(200);
            assertThat(written)
                    .filteredOn(row -> row.entry().actor().equals("anonymous"))
                    .hasSize(200);
        }
    }
}
