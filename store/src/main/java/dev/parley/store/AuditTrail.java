package dev.parley.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.store.Database.Session;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The record of who did what: rows that are added and never changed, each of which has a hash of itself and of the row
 * before. Whoever changes, removes or inserts one breaks the chain from there on.
 *
 * <p>A row is in the transaction of what it tells of, where that is in this database too. Names of people, and ids that
 * they choose, go into the hash as hashes, so that they can be forgotten without breaking it. Safe for any thread.
 */
public final class AuditTrail implements Database.GroupListener {
    /** What stands in the place of a name or an id that was forgotten, before its hash. */
    public static final String FORGOTTEN = "sha256:";

    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final String GENESIS = "0".repeat(64);
    private static final int ROWS_AT_ONCE = 1_000;
    private static final int MAX_NAMES = 1_000;
    /** Members of the detail whose values callers choose: texts, or lists of texts. */
    private static final Set<String> CHOSEN = Set.of("agents", "contextId", "taskId");

    private static final String COLUMNS =
            "row_no, at_ms, group_id, actor, action, target, subject, outcome, address, trace, detail, hash, salt";
    private static final List<String> SCHEMA = List.of("""
            CREATE TABLE audit (
                row_no   KEY PRIMARY KEY,
                at_ms    BIGINT NOT NULL,
                group_id TEXT NOT NULL,
                actor    TEXT NOT NULL,
                action   TEXT NOT NULL,
                target   TEXT NOT NULL,
                subject  TEXT NOT NULL,
                outcome  TEXT NOT NULL,
                address  TEXT NOT NULL,
                trace    TEXT NOT NULL,
                detail   TEXT NOT NULL,
                hash     TEXT NOT NULL,
                -- Goes with the address into the hash, and goes with it: there are too few addresses to hide one in a hash.
                salt     TEXT NOT NULL
            );
            CREATE INDEX audit_by_target ON audit (target, row_no);
            CREATE INDEX audit_by_group ON audit (group_id, row_no);
            -- How far the chain goes, so that cutting off its end shows.
            CREATE TABLE audit_end (row_no BIGINT NOT NULL, hash TEXT NOT NULL);
            """);

    /**
     * Something that somebody did, or was not let do. Holds neither secrets nor what people have written.
     *
     * @param actor the principal; the agent, where it acted by itself
     * @param action such as {@code task.created}; {@code docs/authorization.md} lists them
     * @param target what it was done to, by its id
     * @param subject the member that it is about, or for whom, as {@code group/name}; empty if that is nobody
     * @param outcome {@code ok}, {@code denied}, or the name of an error or state
     * @param address from where; empty if nobody called
     * @param trace W3C trace context; empty if there is none
     * @param detail more, by names of members
     */
    public record Entry(
            String group,
            String actor,
            String action,
            String target,
            String subject,
            String outcome,
            String address,
            String trace,
            Map<String, ?> detail) {
        private Entry with(Map<String, ?> otherDetail) {
            return new Entry(group, actor, action, target, subject, outcome, address, trace, otherDetail);
        }
    }

    /** An entry as it was recorded: its number from 1 without gaps, and when. */
    public record Row(long number, Instant at, Entry entry, String hash) {}

    /** A row, the very text of its detail, and what keeps its address from being guessed. */
    private record Stored(Row row, String detail, String salt) {
        /** As it is, if it is not as we write it. */
        String detailInChain() {
            Map<String, ?> members = row.entry().detail();
            return text(members).equals(detail) ? withoutChosen(members, detail) : detail;
        }
    }

    /** Which rows: null means any. Rows whose actor, target or subject was forgotten are found by what it was. */
    public record Filter(
            @Nullable String group,
            @Nullable String actor,
            @Nullable String action,
            @Nullable String target,
            @Nullable String subject,
            @Nullable Instant since) {
        public static final Filter ALL = new Filter(null, null, null, null, null, null);
    }

    /**
     * What looking at the whole chain has found.
     *
     * @param rows that were read
     * @param end hash of the last row: to be kept elsewhere, by whoever does not trust those who can write here
     * @param broken the first row that is not what it was, with the reason; null if all is well
     */
    public record Verification(
            long rows, String end, @Nullable String broken) {}

    private final Database database;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    // The writer's alone: where the chain ends with the group in the making, and on disk.
    private long number;
    private String hash;
    private long writtenNumber;
    private String writtenHash;
    /** What goes into the chain for a name: the same few call again and again. */
    private final Map<String, String> inChain = new HashMap<>();

    private AuditTrail(Database database, InstantSource clock, long number, String hash) {
        this.database = database;
        this.clock = clock;
        this.number = number;
        this.hash = hash;
        this.writtenNumber = number;
        this.writtenHash = hash;
    }

    /** The trail of a database, which has one. To be called before anything is written to it. */
    public static AuditTrail in(Database database, InstantSource clock) {
        database.migrate("audit", SCHEMA);
        AuditTrail trail = database.read(session -> {
            try (ResultSet row =
                    session.bind("SELECT row_no, hash FROM audit_end").executeQuery()) {
                return row.next()
                        ? new AuditTrail(database, clock, row.getLong(1), row.getString(2))
                        : new AuditTrail(database, clock, 0, GENESIS);
            }
        });
        database.listen(trail);
        return trail;
    }

    // ---- Writing

    /** Adds a row to the transaction in the making. On the writer thread. */
    public void add(Session session, Entry entry) throws SQLException {
        long at = clock.millis();
        String text = text(entry.detail());
        String salt = entry.address().isEmpty() ? "" : Long.toHexString(random.nextLong());
        String next = chained(hash, number + 1, at, entry, withoutChosen(entry.detail(), text), salt, this::remembered);
        session.update(
                "INSERT INTO audit (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                number + 1,
                at,
                entry.group(),
                entry.actor(),
                entry.action(),
                entry.target(),
                entry.subject(),
                entry.outcome(),
                entry.address(),
                entry.trace(),
                text,
                next,
                salt);
        number++;
        hash = next;
    }

    private String remembered(String name) {
        if (inChain.size() >= MAX_NAMES) {
            inChain.clear();
        }
        return inChain.computeIfAbsent(name, AuditTrail::forgettable);
    }

    /** Adds a row by itself, soon. */
    public void note(Entry entry) {
        database.submit(new Database.Work() {
            @Override
            public void write(Session session) throws SQLException {
                add(session, entry);
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {
                LOG.log(Level.ERROR, "a row of the audit could not be written: " + entry.action(), cause);
            }
        });
    }

    @Override
    public void beforeCommit(Session session) throws SQLException {
        if (number == writtenNumber) {
            return;
        }
        if (session.update("UPDATE audit_end SET row_no = ?, hash = ?", number, hash) == 0) {
            session.update("INSERT INTO audit_end (row_no, hash) VALUES (?, ?)", number, hash);
        }
    }

    @Override
    public void committed(int works) {
        writtenNumber = number;
        writtenHash = hash;
    }

    @Override
    public void rolledBack() {
        number = writtenNumber;
        hash = writtenHash;
    }

    @Override
    public void reopened(Session session) throws SQLException {
        try (ResultSet row = session.bind("SELECT row_no, hash FROM audit_end").executeQuery()) {
            boolean begun = row.next();
            number = begun ? row.getLong(1) : 0;
            hash = begun ? row.getString(2) : GENESIS;
        }
        committed(0);
    }

    /**
     * Forgets the name of somebody, the addresses they called from, and the ids they chose: rows keep hashes, by which
     * nobody finds what was there who does not know it already.
     *
     * @return how many rows had the name
     */
    public int forget(String group, String name) {
        String member = group + "/" + name;
        return database.erase(session -> {
            inChain.keySet().removeAll(List.of(name, member));
            List<String> values = List.of(group, name, member);
            return replace(session, "(group_id = ? AND actor = ? OR subject = ?)", values, entry -> {
                boolean did = entry.group().equals(group) && entry.actor().equals(name);
                boolean about = entry.subject().equals(member);
                boolean called = did || about && entry.action().equals("task.moved");
                return new Entry(
                        entry.group(),
                        did ? hashed(name) : entry.actor(),
                        entry.action(),
                        did && isAskedFor(entry) ? forgettable(entry.target()) : entry.target(),
                        about ? hashed(member) : entry.subject(),
                        entry.outcome(),
                        called ? "" : entry.address(),
                        entry.trace(),
                        called ? withoutChosen(entry.detail()) : entry.detail());
            });
        });
    }

    /** Forgets a context's id, where it is somebody's or, with null, anybody's in the group. */
    public void forgetContext(String group, @Nullable String principal, String contextId) {
        database.erase(session -> replace(
                session,
                "group_id = ? AND action = 'task.created'",
                List.of(group),
                entry -> contextId.equals(entry.detail().get("contextId"))
                                && (principal == null || principal.equals(entry.actor()))
                        ? entry.with(withoutChosen(entry.detail()))
                        : entry));
    }

    /** Returns how many rows are not what they were. What goes into the chain of them is. */
    private static int replace(Session session, String where, List<String> values, UnaryOperator<Entry> change)
            throws SQLException {
        int replaced = 0;
        long last = 0;
        List<Stored> rows;
        do {
            var all = new ArrayList<@Nullable Object>(List.of(last));
            all.addAll(values);
            all.add(ROWS_AT_ONCE);
            rows = stored(session, "row_no > ? AND " + where, all);
            for (Stored one : rows) {
                last = one.row().number();
                Entry before = one.row().entry();
                Entry after = change.apply(before);
                if (!after.equals(before)) {
                    session.update(
                            "UPDATE audit SET actor = ?, target = ?, subject = ?, address = ?, salt = ?, detail = ?"
                                    + " WHERE row_no = ?",
                            after.actor(),
                            after.target(),
                            after.subject(),
                            after.address(),
                            after.address().equals(before.address())
                                    ? one.salt()
                                    : addressInChain(before.address(), one.salt()),
                            after.detail().equals(before.detail()) ? one.detail() : text(after.detail()),
                            last);
                    replaced++;
                }
            }
        } while (rows.size() == ROWS_AT_ONCE);
        return replaced;
    }

    /** What stands in the place of a name or an id that was forgotten. */
    public static String hashed(String name) {
        return FORGOTTEN + sha256(name);
    }

    // ---- Reading

    /** Returns rows behind a number, the oldest first. */
    public List<Row> rows(Filter filter, long after, int limit) {
        return database.read(session -> {
            var where = new StringBuilder("row_no > ?");
            var values = new ArrayList<@Nullable Object>();
            values.add(after);
            and(where, values, "group_id = ?", filter.group());
            and(where, values, "action = ?", filter.action());
            andName(where, values, "actor", filter.actor());
            andName(where, values, "subject", filter.subject());
            andName(where, values, "target", filter.target());
            and(
                    where,
                    values,
                    "at_ms >= ?",
                    filter.since() == null ? null : filter.since().toEpochMilli());
            values.add(limit);
            return stored(session, where.toString(), values).stream()
                    .map(Stored::row)
                    .toList();
        });
    }

    private static List<Stored> stored(Session session, String where, List<@Nullable Object> values)
            throws SQLException {
        String sql = "SELECT " + COLUMNS + " FROM audit WHERE " + where + " ORDER BY row_no LIMIT ?";
        var rows = new ArrayList<Stored>();
        try (ResultSet found = session.bind(sql, values.toArray()).executeQuery()) {
            while (found.next()) {
                rows.add(stored(found));
            }
        }
        return rows;
    }

    /** The number of the newest row; 0 if there is none. */
    public long newest() {
        return database.read(session -> {
            try (ResultSet row = session.bind("SELECT max(row_no) FROM audit").executeQuery()) {
                return row.next() ? row.getLong(1) : 0;
            }
        });
    }

    private static void and(
            StringBuilder where, List<@Nullable Object> values, String condition, @Nullable Object value) {
        if (value != null) {
            where.append(" AND ").append(condition);
            values.add(value);
        }
    }

    /** The name or id, or what stands in its place once it was forgotten. */
    private static void andName(
            StringBuilder where, List<@Nullable Object> values, String column, @Nullable String name) {
        if (name != null) {
            where.append(" AND ").append(column).append(" IN (?, ?)");
            values.add(name);
            values.add(hashed(name));
        }
    }

    /** Looks at the whole chain, from the first row to the last. */
    public Verification verify() {
        long last = 0;
        String chain = GENESIS;
        long after = Long.MIN_VALUE;
        while (true) {
            long behind = after;
            List<Stored> rows =
                    database.read(session -> stored(session, "row_no > ?", Arrays.asList(behind, ROWS_AT_ONCE)));
            if (rows.isEmpty()) {
                return new Verification(last, chain, endProblem(last, chain).orElse(null));
            }
            for (Stored one : rows) {
                Row row = one.row();
                if (row.number() != last + 1) {
                    boolean before = row.number() <= last;
                    return new Verification(
                            last,
                            chain,
                            before ? "row " + row.number() + " was added" : "row " + (last + 1) + " is missing");
                }
                String expected = chained(
                        chain,
                        row.number(),
                        row.at().toEpochMilli(),
                        row.entry(),
                        one.detailInChain(),
                        one.salt(),
                        AuditTrail::forgettable);
                if (!expected.equals(row.hash())) {
                    return new Verification(
                            last, chain, "row " + row.number() + " is not what was written, or the one before is not");
                }
                last = row.number();
                after = last;
                chain = expected;
            }
        }
    }

    private Optional<String> endProblem(long last, String chain) {
        return database.read(session -> {
            try (ResultSet row =
                    session.bind("SELECT row_no, hash FROM audit_end").executeQuery()) {
                long number = row.next() ? row.getLong(1) : 0;
                boolean right = number == last && (number == 0 || chain.equals(row.getString(2)));
                if (number > 0 && row.next()) {
                    return Optional.of("the end of the chain is there twice");
                }
                if (right) {
                    return Optional.empty();
                }
                // Rows may have come since the last page was read; they are at the end, and not looked at.
                return number > last && hashOf(session, last + 1) != null
                        ? Optional.empty()
                        : Optional.of("row " + (last + 1) + " is missing: the chain ended at row " + number);
            }
        });
    }

    private static @Nullable String hashOf(Session session, long number) throws SQLException {
        try (ResultSet row =
                session.bind("SELECT hash FROM audit WHERE row_no = ?", number).executeQuery()) {
            return row.next() ? row.getString(1) : null;
        }
    }

    private static Stored stored(ResultSet found) throws SQLException {
        String text = requireNonNull(found.getString(11));
        Map<String, ?> detail = detail(text);
        var entry = new Entry(
                found.getString(3),
                found.getString(4),
                found.getString(5),
                found.getString(6),
                found.getString(7),
                found.getString(8),
                found.getString(9),
                found.getString(10),
                detail);
        Instant at = Instant.ofEpochMilli(found.getLong(2));
        return new Stored(new Row(found.getLong(1), at, entry, found.getString(12)), text, found.getString(13));
    }

    @SuppressWarnings("unchecked") // what was written has texts for names
    private static Map<String, ?> detail(String text) {
        try {
            return (Map<String, ?>) Json.read(text.getBytes(UTF_8), Map.class);
        } catch (A2AException changed) {
            return Map.of("unreadable", text); // which the chain shows
        }
    }

    // ---- The chain

    /** @param detail without what was chosen */
    private static String chained(
            String before, long number, long at, Entry entry, String detail, String salt, UnaryOperator<String> names) {
        List<?> all = Arrays.asList(
                before,
                number,
                at,
                entry.group(),
                names.apply(entry.actor()),
                entry.action(),
                isAskedFor(entry) ? forgettable(entry.target()) : entry.target(),
                entry.subject().isEmpty() ? "" : names.apply(entry.subject()),
                entry.outcome(),
                addressInChain(entry.address(), salt),
                entry.trace(),
                detail);
        return HexFormat.of().formatHex(digest().digest(Json.write(all)));
    }

    /** Once it is forgotten, what was in the chain is where the salt was. */
    private static String addressInChain(String address, String salt) {
        return address.isEmpty() && (salt.isEmpty() || isHash(salt)) ? salt : hashed(salt + " " + address);
    }

    private static String text(Map<String, ?> detail) {
        return detail.isEmpty() ? "{}" : new String(Json.write(new TreeMap<>(detail)), UTF_8);
    }

    private static Map<String, ?> withoutChosen(Map<String, ?> detail) {
        if (Collections.disjoint(detail.keySet(), CHOSEN)) {
            return detail;
        }
        var hashes = new TreeMap<String, @Nullable Object>(detail);
        hashes.replaceAll((name, value) -> CHOSEN.contains(name) ? forgettable(value) : value);
        return hashes;
    }

    private static String withoutChosen(Map<String, ?> detail, String text) {
        return Collections.disjoint(detail.keySet(), CHOSEN) ? text : text(withoutChosen(detail));
    }

    /** What was denied may be no id of anything, but what somebody has asked for. */
    private static boolean isAskedFor(Entry entry) {
        return entry.action().equals("call.denied");
    }

    private static @Nullable Object forgettable(@Nullable Object chosen) {
        return switch (chosen) {
            case String one -> forgettable(one);
            case List<?> several ->
                several.stream().map(AuditTrail::forgettable).toList();
            case null, default -> chosen;
        };
    }

    private static String forgettable(String name) {
        return isHash(name) ? name : hashed(name);
    }

    private static boolean isHash(String text) {
        return text.startsWith(FORGOTTEN)
                && text.length() == FORGOTTEN.length() + GENESIS.length()
                && text.chars().skip(FORGOTTEN.length()).allMatch(HexFormat::isHexDigit);
    }

    private static String sha256(String text) {
        return HexFormat.of().formatHex(digest().digest(text.getBytes(UTF_8)));
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }
}
