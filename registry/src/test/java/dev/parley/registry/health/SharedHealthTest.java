package dev.parley.registry.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Operation;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.HealthStatus;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.trust.Revocations;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.shared.Epoch;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Health of the agents of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedHealthTest {
    private static final CallContext ANNA = CallContext.of("anna", new Scope("blue", "anna"));

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private final AtomicInteger probes = new AtomicInteger();
    private final Semaphore answers = new Semaphore(0);
    private Hub one;
    private Hub other;

    /** A hub with timers that are due by hand. */
    private final class Hub {
        final Map<String, HubTimers.Handler> timers = new ConcurrentHashMap<>();
        final Database database = schema.shared();
        final Entries entries = Entries.open(
                database,
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
        final Prober prober;
        final OwnHealth ownHealth;

        Hub() {
            var clock = InstantSource.system();
            var trust = new TrustCheck(
                    List.of(),
                    new NoParts(),
                    new Revocations(database, new NoParts(), "agent.localhost", clock),
                    (group, url) -> {
                        throw new IOException("none");
                    },
                    clock);
            HubTimers named = (name, handler) -> {
                timers.put(name, handler);
                return new NoParts();
            };
            HubParts parts = (HubParts) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {HubParts.class},
                    (self, method, arguments) -> method.getName().equals("timers") ? named : database);
            this.prober = new Prober(
                    entries,
                    parts,
                    (group, url) -> {
                        probes.incrementAndGet();
                        answers.acquire();
                        throw new IOException("down");
                    },
                    trust,
                    Duration.ofMinutes(5));
            entries.writer().listen(prober);
            this.ownHealth = new OwnHealth(entries, named, Duration.ofMinutes(5));
            hubs.add(this);
        }

        void due(String timers, String id, String content) throws Exception {
            requireNonNull(this.timers.get(timers)).due(id, content);
        }

        void failed(String agent) {
            ownHealth.called(agent, new Operation.GetTask(null, "t", null), ANNA, 1_000_000, A2AError.INTERNAL);
        }

        Entry.Health health(Entry entry) {
            return entries.find(entry.id(), Entries.ITSELF).orElseThrow().health();
        }
    }

    @BeforeEach
    void open() {
        one = new Hub();
        other = new Hub();
    }

    @AfterEach
    void close() {
        answers.release(100);
        hubs.forEach(hub -> {
            hub.prober.close();
            hub.entries.changes().log().close();
            hub.database.close();
        });
    }

    private long number(String sql) {
        return one.database.read(session -> session.number(sql));
    }

    private Entry published() {
        return one.entries.publish(
                new Publication(
                        null,
                        Entry.AGENT_CARD,
                        Cards.v1("agent", "add").getBytes(UTF_8),
                        "https://agent.example/card",
                        null,
                        Visibility.PUBLIC,
                        null,
                        List.of(),
                        Map.of()),
                ANNA);
    }

    @Test
    void anEntryIsProbedAfterItsClaimCouldNotBeWritten() throws Exception {
        Entry entry = published();
        String number = Long.toString(number("SELECT max(number) FROM registry_entry"));
        schema.run("ALTER TABLE registry_probe RENAME TO away");
        assertThatThrownBy(() -> one.due("registry/probe", number, entry.id())).isInstanceOf(StoreException.class);
        schema.run("ALTER TABLE away RENAME TO registry_probe");

        one.due("registry/probe", number, entry.id());

        Eventually.holds("the probe is under way", () -> probes.get() == 1);
    }

    @Test
    void aHubWhoseRunsCannotBeWrittenDelaysOthersBriefly() throws Exception {
        other.failed("echo");
        try (Connection operator = schema.connect();
                Statement statement = operator.createStatement()) {
            operator.setAutoCommit(false);
            statement.execute("LOCK TABLE registry_agent_runs IN SHARE MODE");
            var epochs = one.database.access().epochs();
            long number = one.database.write(session -> epochs.bump(session, Epoch.REGISTRY));

            assertThat(epochs.barrier(Epoch.REGISTRY, number)).isTrue();
            operator.rollback();
        }
        Eventually.holds(
                "the runs are written later",
                () -> number("SELECT coalesce(sum(runs), 0) FROM registry_agent_runs") == 1);
    }

    @Test
    void anEntryIsProbedByOneHubAtATime() throws Exception {
        Entry entry = published();
        String number = Long.toString(number("SELECT max(number) FROM registry_entry"));

        one.due("registry/probe", number, entry.id());
        Eventually.holds("the first probe is under way", () -> probes.get() == 1);
        other.due("registry/probe", number, entry.id());
        assertThat(number("SELECT count(*) FROM registry_probe WHERE claimed_ms > 0"))
                .isOne();
        answers.release();
        Eventually.holds(
                "the first probe has ended",
                () -> one.health(entry).status() == HealthStatus.DOWN
                        && number("SELECT max(claimed_ms) FROM registry_probe") == 0);
        assertThat(probes).hasValue(1);
        assertThat(other.health(entry).status()).isEqualTo(HealthStatus.DOWN);

        other.due("registry/probe", number, entry.id());
        Eventually.holds("the other hub probes it", () -> probes.get() == 2);
        schema.run("UPDATE registry_probe SET claimed_ms = claimed_ms - 600000"); // as of a hub that has ended
        one.due("registry/probe", number, entry.id());
        Eventually.holds("a claim ends", () -> probes.get() == 3);
    }

    @Test
    void theRunsOfAnAgentAtAllHubsDecideAboutItsHealth() throws Exception {
        Entry echo = one.entries
                .publisher()
                .publishOwn("echo", Cards.v1("echo", "add").getBytes(UTF_8), List.of(), Visibility.PUBLIC);
        other.due("registry/own-health", "own", "");
        assertThat(one.health(echo).status()).isEqualTo(HealthStatus.UP);

        for (int i = 0; i < 3; i++) {
            one.failed("echo");
            other.failed("echo");
        }
        other.due("registry/own-health", "own", "");

        assertThat(one.health(echo).status()).isEqualTo(HealthStatus.DOWN);
        assertThat(one.health(echo).reason()).isEqualTo("6 of 6 runs failed");
        assertThat(number("SELECT count(*) FROM registry_agent_runs")).isZero();
    }
}
