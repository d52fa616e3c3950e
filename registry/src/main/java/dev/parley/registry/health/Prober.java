package dev.parley.registry.health;

import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.retry.Backoff.Growth;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryModel;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.InspectionOperation.HealthHistory;
import dev.parley.registry.InspectionOperation.ProbeResult;
import dev.parley.registry.InspectionOperation.ShowHealth;
import dev.parley.registry.RegistryError;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.store.EntryWriter;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Probes the agents of a registry: soon after their registration, then once in an interval, with jitter; after a failure sooner, and less often while it lasts.
 * Each entry has a durable timer, which is set in the transaction of its registration. Entries of the hub itself and of peers are not
 * probed. Safe for any thread.
 */
public final class Prober implements EntryListener, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.parley.registry");

    /** Tables of probes. */
    public static final ModuleTables TABLES = new ModuleTables("registry-health", List.of("""
            CREATE TABLE registry_probe (
                entry       KEY PRIMARY KEY,
                digest      TEXT NOT NULL,
                failures    INTEGER NOT NULL,
                attested_ms BIGINT NOT NULL
            );
            CREATE TABLE registry_health (
                entry   BIGINT NOT NULL,
                at_ms   BIGINT NOT NULL,
                status  TEXT NOT NULL,
                cause   TEXT NOT NULL,
                reason  TEXT NOT NULL,
                millis  BIGINT NOT NULL,
                PRIMARY KEY (entry, at_ms)
            );
            """, """
            -- When a hub has begun a probe that has not ended, by the clock of the database; 0 for none.
            ALTER TABLE registry_probe ADD COLUMN claimed_ms BIGINT NOT NULL DEFAULT 0;
            -- Runs of agents of the hubs themselves that no look has judged yet.
            CREATE TABLE registry_agent_runs (
                agent    TEXT NOT NULL,
                hub_no   BIGINT NOT NULL,
                runs     BIGINT NOT NULL,
                failures BIGINT NOT NULL,
                nanos    BIGINT NOT NULL,
                PRIMARY KEY (agent, hub_no)
            );
            """));

    private static final String CLOCK = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

    /** The claim of a probe by a hub that has ended without a word is void after five minutes, longer than any probe. */
    private static final String CLAIM = "UPDATE registry_probe SET claimed_ms = " + CLOCK
            + " WHERE entry = ? AND claimed_ms < " + CLOCK + " - 300000 RETURNING claimed_ms";

    private static final int AT_ONCE = 64;
    private static final int WAITING = 1_000;
    private static final int KEPT_PROBES = 100;
    private static final int SHOWN_PROBES = 20;
    private static final Duration KEPT = Duration.ofDays(30);
    private static final Duration SOON = Duration.ofSeconds(5);

    /** Pause between the first probes of agents that are registered together, so that they leave time for requests. */
    private static final Duration PACE = Duration.ofMillis(25);

    private static final Duration ATTESTATION = Duration.ofHours(6);

    private final EntryReader reader;
    private final EntryWriter writer;
    private final Database database;
    private final Fetch fetch;
    private final TrustCheck trust;
    private final Duration interval;
    private final HubTimers.Timers timers;
    private final Backoff pace;
    private final Backoff retries;
    private final InstantSource clock;
    private final boolean isShared;
    private final Set<String> underWay = ConcurrentHashMap.newKeySet();

    /** Time of the latest first probe, which the next one follows; for the writer thread. */
    private Instant latestFirst = Instant.EPOCH;

    private final FairTasks tasks = new FairTasks(AT_ONCE, WAITING);

    /** @param interval between probes; zero for no probes */
    public Prober(Entries entries, HubParts hub, Fetch fetch, TrustCheck trust, Duration interval) {
        this.reader = entries.reader();
        this.writer = entries.writer();
        this.database = hub.database();
        this.clock = entries.clock();
        this.isShared = database.access().epochs().isShared();
        this.fetch = fetch;
        this.trust = trust;
        this.interval = interval;
        this.pace = Backoff.around(interval, interval, Growth.LINEAR);
        this.retries = Backoff.around(interval.dividedBy(5), interval.multipliedBy(12), Growth.EXPONENTIAL);
        database.migrate(TABLES);
        this.timers = hub.timers().named("registry/probe", this::due);
    }

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        if (interval.isZero() || !isProbed(now)) {
            return;
        }
        String digest = now.resource().digest();
        Optional<String> known = session.first(
                row -> DatabaseSession.text(row, 1), "SELECT digest FROM registry_probe WHERE entry = ?", number);
        if (known.isPresent() && known.get().equals(digest)) {
            return;
        }
        session.update("DELETE FROM registry_probe WHERE entry = ?", number);
        session.update(
                "INSERT INTO registry_probe (entry, digest, failures, attested_ms) VALUES (?, ?, 0, 0)",
                number,
                digest);
        timers.set(session, Long.toString(number), first(clock.instant()), now.id());
    }

    /** Time of a first probe: soon, for one of many agents after those before it, and for more than fit into an interval at any time in it. */
    private Instant first(Instant now) {
        Instant soon = now.plus(random(min(SOON, interval)));
        Instant next = later(now, latestFirst).plus(PACE);
        if (next.isAfter(now.plus(interval))) {
            return now.plus(random(interval));
        }
        latestFirst = next;
        return later(soon, next);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        session.update("DELETE FROM registry_probe WHERE entry = ?", number);
        session.update("DELETE FROM registry_health WHERE entry = ?", number);
    }

    private static boolean isProbed(Entry entry) {
        String owner = entry.ownership().principal();
        return (entry.state().status() == Entry.Status.ACTIVE || entry.state().status() == Entry.Status.DEPRECATED)
                && !owner.equals(Entry.HUB)
                && !entry.isCopy()
                && Probe.isPossible(entry);
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private static Duration random(Duration most) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(most.toMillis() + 1));
    }

    /** Sets the next timer first: the probe is lost, and not the schedule, if the hub stops meanwhile. */
    private void due(String number, String id) {
        Entry entry = reader.find(id, Entries.ITSELF).filter(Prober::isProbed).orElse(null);
        if (entry == null || interval.isZero()) {
            database.write(
                    session -> session.update("DELETE FROM registry_probe WHERE entry = ?", Long.parseLong(number)));
            return;
        }
        timers.set(number, clock.instant().plus(pace.after(1, null)), id);
        if (!underWay.add(number)) {
            return; // a slow target has one probe at a time
        }
        long claim = isShared ? claim(number) : 0;
        boolean isAdded = (claim > 0 || !isShared)
                && tasks.add(entry.ownership().group(), () -> {
                    try {
                        probe(Long.parseLong(number), entry);
                    } finally {
                        ended(number, claim);
                    }
                });
        if (!isAdded) {
            ended(number, claim);
        }
    }

    /** Claims the probe of an entry among the hubs that share the database; 0 if another one probes it. */
    private long claim(String number) {
        boolean isKnown = false;
        try {
            long claim = database.write(session -> session.number(CLAIM, Long.parseLong(number)));
            isKnown = true;
            return claim;
        } finally {
            if (!isKnown) {
                underWay.remove(number);
            }
        }
    }

    private void ended(String number, long claim) {
        underWay.remove(number);
        if (claim > 0 && !tasks.isClosed()) {
            int unused = database.write(session -> session.update(
                    "UPDATE registry_probe SET claimed_ms = 0 WHERE entry = ? AND claimed_ms = ?",
                    Long.parseLong(number),
                    claim));
        }
    }

    private void probe(long number, Entry entry) {
        try {
            byte[] document = reader.document(entry.id(), null, Entries.ITSELF).bytes();
            Probe probe = Probe.of(entry, document, fetch);
            Entry.Trust attested = isAttestationDue(number) ? trust.attested(entry, document) : entry.trust();
            record(number, entry, probe, attested);
        } catch (A2AException gone) {
            LOG.log(System.Logger.Level.DEBUG, "entry gone during its probe", gone);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException failure) {
            if (tasks.isClosed()) {
                return; // and so is the database
            }
            LOG.log(System.Logger.Level.WARNING, "probe of " + entry.id() + " failed", failure);
        }
    }

    private boolean isAttestationDue(long number) {
        return database.read(
                        session -> session.number("SELECT attested_ms FROM registry_probe WHERE entry = ?", number))
                <= clock.instant().minus(ATTESTATION).toEpochMilli();
    }

    private void record(long number, Entry entry, Probe probe, Entry.Trust attested) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        boolean isAttested = !attested.equals(entry.trust());
        long failures = database.write(entry.ownership().group(), session -> {
            session.update(
                    "UPDATE registry_probe SET failures = CASE WHEN ? = 1 THEN 0 ELSE failures + 1 END,"
                            + " attested_ms = CASE WHEN ? = 1 THEN ? ELSE attested_ms END WHERE entry = ?",
                    probe.isGood() ? 1 : 0,
                    isAttested ? 1 : 0,
                    now,
                    number);
            session.update(
                    "INSERT INTO registry_health (entry, at_ms, status, cause, reason, millis) VALUES (?, ?, ?, ?, ?, ?)"
                            + " ON CONFLICT DO NOTHING",
                    number,
                    now,
                    EntryModel.word(probe.status()),
                    EntryModel.word(probe.cause()),
                    probe.reason(),
                    probe.millis());
            session.update(
                    "DELETE FROM registry_health WHERE entry = ? AND (at_ms < ? OR at_ms <= coalesce((SELECT at_ms FROM"
                            + " registry_health WHERE entry = ? ORDER BY at_ms DESC LIMIT 1 OFFSET " + KEPT_PROBES
                            + "), 0))",
                    number,
                    now.minus(KEPT),
                    number);
            return session.number("SELECT failures FROM registry_probe WHERE entry = ?", number);
        });
        if (failures > 0) {
            timers.set(Long.toString(number), now.plus(retries.after((int) Math.min(failures, 20), null)), entry.id());
        }
        if (isAttested) {
            writer.change(
                    entry.id(),
                    EntryChange.Kind.TRUST,
                    Map.of(
                            "tee",
                            attested.teeOutcome() == null ? "null" : EntryModel.word(attested.teeOutcome()),
                            "reason",
                            Objects.toString(attested.teeReason())),
                    null,
                    current ->
                            current.resource().digest().equals(entry.resource().digest())
                                    ? current.with(new Entry.Trust(
                                            current.trust().outcome(),
                                            current.trust().reason(),
                                            current.trust().checked(),
                                            attested.tee(),
                                            attested.teeOutcome(),
                                            attested.teeReason()))
                                    : current);
        }
        change(writer, entry.id(), probe, now);
    }

    /** Writes the health of an entry if its status or cause is another one. */
    static void change(EntryWriter writer, String id, Probe probe, Instant now) {
        writer.change(
                id,
                EntryChange.Kind.HEALTH,
                Map.of(
                        "status", EntryModel.word(probe.status()),
                        "cause", EntryModel.word(probe.cause()),
                        "reason", probe.reason()),
                null,
                current -> {
                    Entry.Health before = current.health();
                    if (before.status() == probe.status() && before.cause() == probe.cause()) {
                        return current;
                    }
                    Instant since = before.status() == probe.status() ? before.since() : now;
                    return current.with(
                            new Entry.Health(probe.status(), probe.cause(), probe.reason(), since, probe.millis()));
                });
    }

    /** Answers the operation {@link InspectionOperation#HEALTH}. */
    public HealthHistory history(ShowHealth given, CallContext caller) {
        Entry entry = reader.find(given.id(), caller)
                .orElseThrow(
                        () -> A2AException.of(RegistryError.ENTRY_NOT_FOUND, "entry \"" + given.id() + "\": unknown"));
        Entry.Health health = entry.health();
        List<ProbeResult> probes = probes(entry.id());
        return new HealthHistory(
                entry.id(),
                health.status(),
                health.cause(),
                health.reason(),
                health.since(),
                probes.isEmpty() ? health.latencyMillis() : probes.getFirst().latencyMillis(),
                probes);
    }

    private List<ProbeResult> probes(String id) {
        return database.read(session -> session.list(
                row -> new ProbeResult(
                        Objects.requireNonNull(DatabaseSession.time(row, 1)),
                        EntryModel.constant(
                                Entry.HealthStatus.class, DatabaseSession.text(row, 2), Entry.HealthStatus.UNKNOWN),
                        EntryModel.constant(Entry.Cause.class, DatabaseSession.text(row, 3), Entry.Cause.NONE),
                        DatabaseSession.text(row, 4),
                        row.getLong(5)),
                "SELECT h.at_ms, h.status, h.cause, h.reason, h.millis FROM registry_health h JOIN registry_entry e"
                        + " ON e.number = h.entry WHERE e.id = ? ORDER BY h.at_ms DESC LIMIT " + SHOWN_PROBES,
                id));
    }

    @Override
    public void close() {
        tasks.close();
    }
}
