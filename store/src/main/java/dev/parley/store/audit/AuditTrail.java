package dev.parley.store.audit;

import dev.parley.engine.spi.SteadyClock;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditRows.Place;
import dev.parley.store.audit.AuditRows.Stored;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Work;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The audit: numbered entries that are added and never changed, in a chain of hashes. Changing, removing or inserting an
 * entry breaks the chain from there on.
 *
 * <p>An entry is a row, with a hash of itself and of the link before, or a {@linkplain LoggedEntry reading of the task
 * log}. The entries that a transaction adds to the log are one link of the chain, a row of {@code audit_log}: their places
 * in the log in the order of their numbers, and one hash over all of them and over the events that they stand beside. When
 * a task is removed its entries become rows, without a link of their own.
 *
 * <p>An entry is in the transaction of what it tells of, where that is in this database too. Names of people, and ids that
 * they choose, go into the hash as hashes, so that they can be forgotten without breaking it. Safe for any thread.
 */
public final class AuditTrail implements GroupListener {
    /** Action of the row of an answered call, where reads leave rows, too. */
    public static final String ANSWERED = "call.answered";

    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final int MAX_NAMES = 1_000;

    /** Time in which a page is read, with the wait for those of others. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private record Pending(long at, AuditEntry entry) {}

    /** A caller, and where a call came from. */
    private record Origin(String group, String caller, String address) {}

    /** @param inChain what goes into the chain for the address */
    private record Salt(String salt, String inChain) {}

    private final Database database;
    /** Whether no other hub adds entries, so that the newest chain is the only one that grows. */
    private final boolean isAlone;

    private final InstantSource clock;
    private final Optional<Instant> newestTime;
    private final InstantSource steadyClock;
    private final SecureRandom random = new SecureRandom();
    // Used by the writer thread only: the end of the chain with the group in the making, and on disk.
    private long number;
    private String hash;
    private long writtenNumber;
    private String writtenHash;
    /** Rows of the group in the making; they come after its entries of the log. */
    private final List<Pending> pending = new ArrayList<>();

    /** Rows of {@link #note} that were refused since a group was written last; any thread counts them. */
    private final AtomicLong lost = new AtomicLong();

    private int logged;
    private long loggedAt;
    private final StringBuilder places = new StringBuilder();
    /** The places by group, each with its number. */
    private final Map<String, StringBuilder> parts = new LinkedHashMap<>();

    private final MessageDigest loggedDigest = Sha256.digest();
    private final MessageDigest entryDigest = Sha256.digest();
    /** Salts of the group in the making. */
    private final Map<Origin, Salt> salts = new HashMap<>();

    /** Hashes of names for the chain; a few names occur in most entries. */
    private final Map<String, String> inChain = new HashMap<>();

    private volatile Runnable watcher = () -> {};

    private AuditTrail(Database database, InstantSource clock, boolean isAlone, long number, String hash) {
        this.database = database;
        this.isAlone = isAlone;
        this.clock = clock;
        this.newestTime = newestTime(database);
        this.steadyClock = new SteadyClock(clock, System::nanoTime, newestTime.orElse(null));
        this.number = number;
        this.hash = hash;
        this.writtenNumber = number;
        this.writtenHash = hash;
    }

    /**
     * Has new rows announced, in place of an earlier watcher, but not rows of {@link #ANSWERED} alone: a watcher that reads the rows would learn of
     * its own reads.
     *
     * @param rows called by the thread that writes to the database, after each commit with rows; may not block
     */
    public void onRows(Runnable rows) {
        watcher = rows;
    }

    /** Tables of the audit. */
    public static ModuleTables tables(DatabaseKind kind) {
        return new ModuleTables("audit", AuditSchema.scripts(kind));
    }

    /** The trail of a database, which has one. To be called before anything is written to it. */
    public static AuditTrail in(Database database, InstantSource clock) {
        database.migrate(tables(database.kind()));
        boolean isAlone = !database.access().feeds().isShared();
        AuditTrail trail = database.read(session -> session.first(
                        row -> new AuditTrail(database, clock, isAlone, row.getLong(1), DatabaseSession.text(row, 2)),
                        end(database)))
                .orElseGet(() -> new AuditTrail(database, clock, isAlone, 0, AuditChain.GENESIS));
        database.listen(trail);
        if (database.system() instanceof PostgresqlSystem postgresql && postgresql.isAtOnce()) {
            new AuditAnchors(database).begin();
        }
        return trail;
    }

    /** Returns a query for the end of the chain of this hub. */
    private static String end(Database database) {
        return database.system() instanceof PostgresqlSystem postgresql
                ? "SELECT audit_no, audit_hash FROM stream_newest WHERE stream_no = " + postgresql.stream()
                : "SELECT row_no, hash FROM audit_end";
    }

    /**
     * The trail of a database that is open for reading.
     *
     * @throws StoreException if the tables are those of another version
     */
    public static AuditTrail reading(Database database) {
        long version = database.read(session -> {
            return session.number("SELECT max(version) FROM module_version WHERE module = 'audit'");
        });
        int current = AuditSchema.scripts(database.kind()).size();
        if (version != current) {
            throw new StoreException("the tables of the audit have version " + version + " (expected: " + current
                    + "; a start of the hub of this version brings them up to date)");
        }
        boolean isAlone = database.kind() == DatabaseKind.SQLITE;
        return new AuditTrail(database, InstantSource.system(), isAlone, 0, AuditChain.GENESIS);
    }

    // ---- Writing

    /** Adds a row to the transaction in the making. On the writer thread. */
    public void add(DatabaseSession session, AuditEntry entry) throws SQLException {
        pending.add(new Pending(clock.millis(), entry));
    }

    private void insert(DatabaseSession session, Pending row) throws SQLException {
        AuditEntry entry = row.entry();
        String text = AuditChain.text(entry.detail());
        String salt = salt(entry.address());
        String next = AuditChain.chained(
                hash,
                number + 1,
                row.at(),
                entry,
                AuditChain.withoutChosen(entry.detail(), text),
                salt,
                this::remembered);
        AuditRows.insert(session, number + 1, row.at(), entry, text, next, salt);
        number++;
        hash = next;
    }

    /** Salt of the hash of an address; empty for no address. */
    private String salt(String address) {
        return address.isEmpty() ? "" : Long.toHexString(random.nextLong());
    }

    /**
     * The salt of a cause's address: one for each caller and address in a transaction, since they are forgotten together. On
     * the writer thread.
     */
    public String salt(String group, Cause cause) {
        return salted(new Origin(group, cause.caller(), cause.address())).salt();
    }

    private Salt salted(Origin from) {
        return salts.computeIfAbsent(from, origin -> {
            String salt = salt(origin.address());
            return new Salt(salt, AuditChain.addressInChain(origin.address(), salt));
        });
    }

    /**
     * Adds an entry that a segment in the transaction in the making stands for, and returns its number. On the writer thread.
     *
     * @param events the segment's events as they are stored
     */
    public long logged(AuditEntry entry, Cause cause, String taskId, long firstSequence, byte[] events) {
        if (logged == 0) {
            loggedAt = clock.millis();
        }
        logged++;
        long next = number + logged;
        String segment = taskId + "/" + firstSequence;
        places.append(segment).append('\n');
        parts.computeIfAbsent(entry.group(), any -> new StringBuilder())
                .append(new Place(next, segment).line())
                .append('\n');
        entryDigest.update(events);
        byte[] hashOfEvents = entryDigest.digest();
        String address = salted(new Origin(entry.group(), cause.caller(), cause.address()))
                .inChain();
        loggedDigest.update(
                AuditChain.entryDigest(entryDigest, next, loggedAt, entry, address, hashOfEvents, this::remembered));
        return next;
    }

    private String remembered(String name) {
        if (inChain.size() >= MAX_NAMES) {
            inChain.clear();
        }
        return inChain.computeIfAbsent(name, AuditChain::forgettable);
    }

    /** Returns the time of the newest row before this start; empty if there is none. */
    public Optional<Instant> newestTime() {
        return newestTime;
    }

    /** Returns the clock that decides what of the database is old enough to be removed. */
    public InstantSource steadyClock() {
        return steadyClock;
    }

    private static Optional<Instant> newestTime(Database database) {
        return database.read(session -> {
            long newest = 0;
            for (String table : List.of("audit", "audit_log")) {
                newest = Math.max(
                        newest, session.number("SELECT at_ms FROM " + table + " ORDER BY row_no DESC LIMIT 1"));
            }
            return newest == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(newest));
        });
    }

    /**
     * Adds a row by itself, soon, and does not wait. The row is lost if the database cannot be written, or if the group has its
     * share of the works that may wait for the writer: the log has the number of lost rows.
     */
    public void note(AuditEntry entry) {
        database.submit(new Work() {
            @Override
            public void write(DatabaseSession session) throws SQLException {
                add(session, entry);
            }

            @Override
            public String group() {
                return entry.group();
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {
                if (lost.getAndIncrement() == 0) { // a line for each would fill the log, and the disk
                    LOG.log(Level.ERROR, "a row of the audit could not be written: " + entry.action(), cause);
                }
            }
        });
    }

    @Override
    public void beforeCommit(DatabaseSession session) throws SQLException {
        if (logged > 0) {
            String all = places.toString();
            number += logged;
            hash = AuditChain.chained(hash, number, loggedAt, logged, all, loggedDigest.digest());
            session.later(
                    "INSERT INTO audit_log (row_no, at_ms, entries, places, hash) VALUES (?, ?, ?, ?, ?)",
                    number,
                    loggedAt,
                    logged,
                    all,
                    hash);
            for (Map.Entry<String, StringBuilder> part : parts.entrySet()) {
                session.later(
                        "INSERT INTO audit_part (group_id, row_no, at_ms, hash, places) VALUES (?, ?, ?, ?, ?)",
                        part.getKey(),
                        number,
                        loggedAt,
                        hash,
                        part.getValue().toString());
            }
        }
        for (Pending row : pending) {
            insert(session, row);
        }
        if (number != writtenNumber) {
            writeEnd(session);
        }
    }

    private void writeEnd(DatabaseSession session) throws SQLException {
        if (database.system() instanceof PostgresqlSystem postgresql) {
            postgresql.auditEnd(session, number, hash);
        } else if (session.update("UPDATE audit_end SET row_no = ?, hash = ?", number, hash) == 0) {
            session.update("INSERT INTO audit_end (row_no, hash) VALUES (?, ?)", number, hash);
        }
    }

    @Override
    public void committed(int works) {
        boolean isNews = logged > 0
                || pending.stream().anyMatch(row -> !ANSWERED.equals(row.entry().action()));
        if (lost.get() > 0) {
            LOG.log(Level.ERROR, "rows of the audit that were not written until now: " + lost.getAndSet(0));
        }
        writtenNumber = number;
        writtenHash = hash;
        begin();
        if (isNews) {
            watcher.run();
        }
    }

    @Override
    public void rolledBack() {
        number = writtenNumber;
        hash = writtenHash;
        begin();
    }

    private void begin() {
        pending.clear();
        logged = 0;
        salts.clear();
        places.setLength(0);
        parts.clear();
        loggedDigest.reset();
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        try (ResultSet row = session.bind(end(database)).executeQuery()) {
            boolean begun = row.next();
            number = begun ? row.getLong(1) : 0;
            hash = begun ? DatabaseSession.text(row, 2) : AuditChain.GENESIS;
        }
        committed(0);
    }

    /**
     * Erases the name of a principal, its addresses, and the ids that it chose: rows keep hashes, which reveal only values
     * that a reader knows already.
     *
     * @return how many rows had the name
     */
    public int forget(String group, String name) {
        String member = group + "/" + name;
        List<String> tasks = database.read(session -> tasksOf(session, group, name));
        database.writeInSlices(tasks, true, this::keepAll);
        // After all that was submitted before, as there may have been no task.
        database.erase(session -> inChain.keySet().removeAll(List.of(name, member)));
        return replace("(group_id = ? AND actor = ? OR subject = ?)", List.of(group, name, member), entry -> {
            boolean did = entry.group().equals(group) && entry.actor().equals(name);
            boolean about = entry.subject().equals(member);
            boolean called = did || about && entry.actor().startsWith("agent:");
            return new AuditEntry(
                    entry.group(),
                    did ? AuditChain.hashed(name) : entry.actor(),
                    entry.action(),
                    did && AuditChain.isAskedFor(entry) ? AuditChain.forgettable(entry.target()) : entry.target(),
                    about ? AuditChain.hashed(member) : entry.subject(),
                    entry.outcome(),
                    called ? "" : entry.address(),
                    entry.trace(),
                    called ? AuditChain.withoutChosen(entry.detail()) : entry.detail());
        });
    }

    /** Makes rows of the entries of a task. */
    private int keepAll(DatabaseSession session, String task) throws SQLException {
        if (!isAlone && session.number("SELECT 1 FROM task WHERE task_id = ? FOR UPDATE", task) == 0) {
            return 0; // removed by another hub
        }
        KeptEntries.keep(session, database.system(), List.of(task));
        return session.update(
                        "UPDATE segment SET entry_no = NULL, state = NULL, previous = NULL, caller = NULL, address = NULL,"
                                + " salt = NULL, trace = NULL, agents = NULL, received = NULL, sent = NULL WHERE task_id = ? AND entry_no IS NOT NULL",
                        task)
                + session.update(
                        "UPDATE task SET entry_no = NULL, address = NULL, salt = NULL, received = NULL, sent = NULL"
                                + " WHERE task_id = ? AND entry_no IS NOT NULL",
                        task);
    }

    /** Tasks with a name in their entries in the log. */
    private static List<String> tasksOf(DatabaseSession session, String group, String name) throws SQLException {
        return session.list(
                rows -> DatabaseSession.text(rows, 1),
                "SELECT task_id FROM task JOIN lane ON lane.lane_no = task.lane_no WHERE group_id = ?1"
                        + " AND (caller = ?2 OR task_id IN (SELECT task_id FROM segment WHERE segment.caller = ?2))",
                group,
                name);
    }

    /** Erases the id of a context in the rows of one principal or, if it is null, of all principals of the group. */
    public void forgetContext(String group, @Nullable String principal, String contextId) {
        database.erase(session -> contextId); // after all that was submitted before
        replace(
                "group_id = ? AND action = 'task.created'",
                List.of(group),
                entry -> contextId.equals(entry.detail().get("contextId"))
                                && (principal == null || principal.equals(entry.actor()))
                        ? entry.with(AuditChain.withoutChosen(entry.detail()))
                        : entry);
    }

    /**
     * Changes rows in transactions of a few milliseconds, and returns how many are not what they were. What goes into the chain of
     * them is. The rows are searched beside the writer.
     */
    private int replace(String where, List<String> values, UnaryOperator<AuditEntry> change) {
        return database.writeInSlices(
                0L,
                (session, after) -> numbers(session, where, values, after),
                true,
                () -> true,
                (session, number) -> replace(session, number, change));
    }

    private static List<Long> numbers(DatabaseSession session, String where, List<String> values, long after)
            throws SQLException {
        var all = new ArrayList<@Nullable Object>(List.of(after));
        all.addAll(values);
        all.add(AuditRows.ROWS_AT_ONCE);
        return session.list(
                rows -> rows.getLong(1),
                "SELECT row_no FROM audit WHERE row_no > ? AND " + where + " ORDER BY row_no LIMIT ?",
                all.toArray());
    }

    private static int replace(DatabaseSession session, long number, UnaryOperator<AuditEntry> change)
            throws SQLException {
        int replaced = 0;
        for (Stored one : AuditRows.stored(session, "row_no = ?", Arrays.asList(number, 1))) {
            AuditEntry before = one.row().entry();
            AuditEntry after = change.apply(before);
            if (!after.equals(before)) {
                replaced += session.update(
                        "UPDATE audit SET actor = ?, target = ?, subject = ?, address = ?, salt = ?, detail = ?"
                                + " WHERE row_no = ?",
                        after.actor(),
                        after.target(),
                        after.subject(),
                        after.address(),
                        after.address().equals(before.address())
                                ? one.salt()
                                : AuditChain.addressInChain(before.address(), one.salt()),
                        after.detail().equals(before.detail()) ? one.detail() : AuditChain.text(after.detail()),
                        number);
            }
        }
        return replaced;
    }

    // ---- Reading

    /** Returns entries after a number, the oldest first, however long that takes. */
    public List<AuditRow> rows(Filter filter, long after, int limit) {
        var rows = new ArrayList<AuditRow>();
        AuditPage page;
        long next = after;
        do {
            page = page(filter, next, limit - rows.size());
            rows.addAll(page.rows());
            next = page.next();
        } while (!page.isLast() && rows.size() < limit);
        return rows;
    }

    /** Returns entries after a number, the oldest first: at most so many, and as many as are found in {@link AuditPage#LONGEST}. */
    public AuditPage page(Filter filter, long after, int limit) {
        return database.scan(
                Objects.requireNonNullElse(filter.group(), ""),
                PATIENCE,
                () -> AuditPage.read(database, filter, after, limit));
    }

    /**
     * Returns entries after a place, those of each chain in order: at most so many, and as many as are found in some times {@link
     * AuditPage#LONGEST}.
     */
    public AuditNews since(Filter filter, AuditPosition after, int limit) {
        return database.scan(
                Objects.requireNonNullElse(filter.group(), ""),
                PATIENCE,
                () -> isAlone && after.numbers().size() == 1
                        ? AuditNews.of(
                                AuditPage.read(database, filter, after.numbers().getFirst(), limit))
                        : AuditNews.read(database, filter, after, limit));
    }

    /** The place after the newest entries. */
    public AuditPosition now() {
        return isAlone ? AuditPosition.of(newest()) : AuditNews.newest(database);
    }

    /** A place before another one, by at most so many entries of each chain. */
    public AuditPosition back(AuditPosition place, long entries) {
        return AuditNews.back(database, place, entries);
    }

    /** A place before the entries from a time on, which is compared with the times of the clocks of their hubs. */
    public AuditPosition at(Instant time) {
        return AuditNews.at(database, time);
    }

    /** Number of the entries after a place; negative if it is no place of this audit, such as one of a database that was restored. */
    public long behind(AuditPosition place) {
        return AuditNews.behind(database, place);
    }

    /** The number of the newest row of the newest chain; 0 if there is none. */
    public long newest() {
        return database.read(session -> session.number("SELECT max(row_no) FROM audit_end"));
    }

    /** Looks at the whole chain, from the first entry to the last. */
    public Verification verify() {
        var chain = new AuditVerifier(database.kind() == DatabaseKind.POSTGRESQL);
        boolean more = true;
        while (more) {
            // A page each, so that nothing else waits for the connection for long.
            more = database.scan("", PATIENCE, () -> database.read(chain::goOn));
        }
        return chain.result(new AuditAnchors(database).problem().orElse(null));
    }
}
