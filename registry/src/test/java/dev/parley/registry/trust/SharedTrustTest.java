package dev.parley.registry.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.InspectionOperation.RevokeEntry;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.shared.Epoch;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Trust in entries at two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedTrustTest {
    private static final CallContext ANNA = CallContext.of("anna", new Scope("blue", "anna"));
    private static final CallContext BEN = CallContext.of("ben", new Scope("red", "ben"));

    @TempDir
    private Path directory;

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private static final class Hub {
        final Map<String, HubTimers.Handler> timers = new ConcurrentHashMap<>();
        final Database database;
        final Entries entries;
        final TrustCheck check;
        final TrustOperations operations;

        Hub(SharedSchema schema, Path keys) {
            InstantSource clock = InstantSource.system();
            this.database = schema.shared();
            this.entries = Entries.open(
                    database,
                    "agent.localhost",
                    List.of(),
                    (caller, agent) -> true,
                    new NoParts(),
                    new NoParts(),
                    clock);
            var revocations = new Revocations(database, new NoParts(), "agent.localhost", clock);
            this.check = new TrustCheck(
                    List.of(keys),
                    new NoParts(),
                    revocations,
                    (group, url) -> {
                        throw new IOException("none");
                    },
                    clock);
            entries.publisher().check(check);
            entries.writer().listen(revocations);
            HubTimers named = (name, handler) -> {
                timers.put(name, handler);
                return new NoParts();
            };
            this.operations = new TrustOperations(
                    entries,
                    (HubParts) Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {HubParts.class},
                            (self, method, arguments) -> method.getName().equals("timers") ? named : database),
                    check);
        }

        Entry publish(String name, CallContext caller) {
            return entries.publish(
                    new Publication(
                            null,
                            Entry.AGENT_CARD,
                            Cards.v1(name, "add").getBytes(UTF_8),
                            null,
                            null,
                            Visibility.PUBLIC,
                            null,
                            List.of(),
                            Map.of()),
                    caller);
        }
    }

    private Path keys() {
        return directory.resolve("keys.json");
    }

    private void writeKey(String name) throws IOException {
        Files.write(keys(), Json.write(new Signer().jwk(name)));
    }

    @BeforeEach
    void open() throws IOException {
        writeKey("first");
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        hubs.forEach(hub -> {
            hub.entries.changes().log().close();
            hub.database.close();
        });
    }

    private Hub hub() {
        var hub = new Hub(schema, keys());
        hubs.add(hub);
        return hub;
    }

    @Test
    void keysThatOneHubHasReadForAVerificationAreReadByTheOtherBeforeItEnds() throws Exception {
        requireNonNull(one.timers.get("registry/trust")).due("keys", "");
        String before = other.check.fingerprint();
        writeKey("second");
        assertThat(other.check.fingerprint()).isEqualTo(before);

        requireNonNull(one.timers.get("registry/trust")).due("keys", "");

        assertThat(one.check.fingerprint()).isNotEqualTo(before);
        assertThat(other.check.fingerprint()).isEqualTo(one.check.fingerprint());
    }

    @Test
    void aFileThatCannotBeReadLeavesTheKeysOfAHubAsTheyAre() throws Exception {
        requireNonNull(one.timers.get("registry/trust")).due("keys", "");
        String before = other.check.fingerprint();
        Files.delete(keys());

        schema.run("UPDATE registry_trusted_keys SET fingerprint = 'others'");
        schema.run("INSERT INTO epoch (kind, n) VALUES (2, 1000) ON CONFLICT (kind) DO UPDATE SET n = 1000");

        assertThat(other.database.access().epochs().barrier(Epoch.REGISTRY, 1000))
                .isTrue();
        assertThat(other.check.fingerprint()).isEqualTo(before);
    }

    @Test
    void aRevokedDocumentIsRefusedByTheOtherHub() {
        Entry entry = one.publish("agent", ANNA);

        one.operations.revoke(new RevokeEntry(entry.id(), "stolen"), ANNA);

        assertThatThrownBy(() -> other.publish("agent", BEN))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("revoked");
        assertThatThrownBy(() -> other.publish("agent", ANNA)).isInstanceOf(A2AException.class);
    }
}
