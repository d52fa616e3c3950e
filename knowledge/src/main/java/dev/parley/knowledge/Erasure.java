package dev.parley.knowledge;

import dev.parley.dialect.Json;
import dev.parley.protocol.KnowledgeOperation.Verification;
import dev.parley.store.AuditTrail;
import dev.parley.store.Database.Session;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Takes the name of somebody, or the ids of tasks, out of what a group's graph keeps beside its statements. On the writer
 * thread.
 */
final class Erasure {
    private static final int AT_ONCE = 1_000;

    /** Members of a provenance that say who somebody is. */
    private static final List<String> NAMES =
            List.of("recordedBy", "sourceAgentId", "claimedSourceAgentId", "approvedBy");

    /** What else stays in a provenance that somebody has told who is erased, hashed: they chose it. */
    private static final Set<String> HASHED = Set.of("claimedSourceAgentId", "taskId");

    /** Members of a provenance that say who has told it. */
    private static final List<String> TELLERS = List.of("recordedBy", "sourceAgentId");

    /** Members that say what an update was made for. */
    private static final List<String> LINKS = List.of("taskId", "sessionId");

    private final SqlWriting writing;
    private final Session session;
    private final Sql sql;
    private final long space;

    Erasure(SqlWriting writing) {
        this.writing = writing;
        this.session = writing.session;
        this.sql = writing.sql;
        this.space = writing.space.number();
    }

    /**
     * Puts its hash in the place of a name, and removes what its bearer has told besides statements.
     *
     * @return how many rows had to do with it
     */
    int name(String name) throws SQLException {
        String hash = AuditTrail.hashed(name);
        int rows = rewrite(
                "kg_task",
                "change_no",
                "task_id",
                "EXISTS (SELECT 1 FROM kg_change c JOIN kg_provenance y ON y.provenance = c.more WHERE c.space ="
                        + " kg_task.space AND c.change_no = kg_task.change_no AND ("
                        + isOne("y.json", TELLERS, "= ?") + "))",
                name,
                AuditTrail::hashed);
        rows += rewrite(
                "kg_provenance",
                "provenance",
                "json",
                isOne("json", NAMES, "= ?"),
                name,
                json -> unnamed(json, name, hash));
        rows += rewrite(
                "kg_change",
                "change_no",
                "replaced",
                sql.contains("replaced"),
                Sql.containing(text(name)),
                json -> unnamedInList(json, name, hash));
        rows += session.update("DELETE FROM kg_key WHERE space = ? AND caller = ?", space, name);
        rows += session.update(
                "DELETE FROM kg_review WHERE space = ? AND (caller = ? OR " + sql.member("request", "sourceAgentId")
                        + " = ?)",
                space,
                name,
                name);
        rows += session.update(
                "UPDATE kg_review SET decided_by = ?, remark = NULL WHERE space = ? AND decided_by = ?",
                hash,
                space,
                name);
        rows += session.update(
                "UPDATE kg_audit SET caller = ?, detail = '{}' WHERE space = ? AND caller = ?", hash, space, name);
        rows += session.update(
                "UPDATE kg_audit SET detail = '{}' WHERE space = ? AND " + sql.member("detail", "sourceAgentId")
                        + " = ?",
                space,
                name);
        return rows + source(name, hash);
    }

    /** Whoever is known by name remains known by hash, so that what one source says stays apart from what others say. */
    private int source(String name, String hash) throws SQLException {
        long from = writing.number(name);
        long to = writing.number(hash);
        session.update(
                "DELETE FROM kg_assertion WHERE space = ? AND source = ? AND EXISTS (SELECT 1 FROM kg_assertion y WHERE"
                        + " y.space = kg_assertion.space AND y.s = kg_assertion.s AND y.p = kg_assertion.p AND y.o ="
                        + " kg_assertion.o AND y.g = kg_assertion.g AND y.source = ?)",
                space,
                to,
                from);
        int rows = 0;
        for (String table : List.of("kg_assertion", "kg_statement")) {
            rows += session.update(
                    "UPDATE " + table + " SET source = ? WHERE space = ? AND source = ?", to, space, from);
        }
        writing.terms.eraseUnused(session, List.of(from, to));
        return rows;
    }

    /** Removes that anything was done for these tasks, or in these contexts. */
    void links(Collection<String> ids) throws SQLException {
        Set<String> all = Stream.concat(ids.stream(), ids.stream().map(AuditTrail::hashed))
                .collect(Collectors.toSet()); // as they are where their teller is erased
        String list = text(all);
        session.update("DELETE FROM kg_task WHERE space = ? AND " + sql.inTexts("task_id"), space, list);
        String in = sql.inTexts("");
        UnaryOperator<String> unlinked = json -> unlinked(json, all);
        rewrite("kg_provenance", "provenance", "json", isOne("json", LINKS, in), list, unlinked);
        rewrite("kg_audit", "audit_no", "detail", isOne("detail", LINKS, in), list, unlinked);
        rewrite("kg_review", "review_no", "request", isOne("request", LINKS, in), list, unlinked);
    }

    /** A condition that one of some members is so, with one parameter each. */
    private String isOne(String column, List<String> members, String so) {
        return members.stream().map(name -> sql.member(column, name) + " " + so).collect(Collectors.joining(" OR "));
    }

    /** Changes a text in the rows that fit; {@code value} is each parameter of {@code where}. */
    private int rewrite(
            String table, String key, String column, String where, String value, UnaryOperator<String> change)
            throws SQLException {
        record Found(long key, String text) {}
        var found = new ArrayList<Found>();
        int rows = 0;
        long last = 0;
        do {
            found.clear();
            var values = new ArrayList<@Nullable Object>(List.of(space, last));
            where.chars().filter(c -> c == '?').forEach(parameter -> values.add(value));
            values.add(AT_ONCE);
            try (ResultSet some = session.bind(
                            "SELECT " + key + ", " + column + " FROM " + table + " WHERE space = ? AND " + key
                                    + " > ? AND (" + where + ") ORDER BY " + key + " LIMIT ?",
                            values.toArray())
                    .executeQuery()) {
                while (some.next()) {
                    found.add(new Found(some.getLong(1), some.getString(2)));
                }
            }
            for (Found one : found) {
                last = one.key;
                rows += session.update(
                        "UPDATE " + table + " SET " + column + " = ? WHERE space = ? AND " + key + " = ? AND " + column
                                + " = ?",
                        change.apply(one.text),
                        space,
                        one.key,
                        one.text);
            }
        } while (found.size() == AT_ONCE);
        return rows;
    }

    /** What else its bearer has told of where a statement comes from may name them as well. */
    private String unnamed(String json, String name, String hash) {
        Map<String, @Nullable Object> said = SqlFacts.json(json);
        boolean isTheirs = TELLERS.stream().anyMatch(member -> name.equals(said.get(member)));
        var left = new LinkedHashMap<String, @Nullable Object>();
        said.forEach((member, value) -> {
            if (name.equals(value) && NAMES.contains(member)) {
                left.put(member, hash);
            } else if (isTheirs && HASHED.contains(member)) {
                left.put(member, AuditTrail.hashed(String.valueOf(value)));
            } else if (!isTheirs || NAMES.contains(member) || isOurs(member, value)) {
                left.put(member, value);
            }
        });
        return text(left);
    }

    /** True for what the graph itself has written, and not somebody under the same name. */
    private boolean isOurs(String member, @Nullable Object value) {
        return switch (member) {
            case "transactionId" -> value instanceof String id && writing.space.hasMade(id);
            case "verificationStatus" -> Verification.VERIFIED.equals(value);
            default -> false;
        };
    }

    private static String unnamedInList(String json, String name, String hash) {
        List<Object> list = new ArrayList<>();
        for (Object one : (List<?>)
                Objects.requireNonNull(SqlFacts.json("{\"list\":" + json + "}").get("list"))) {
            var said = new LinkedHashMap<Object, @Nullable Object>((Map<?, ?>) one);
            said.replace("sourceAgentId", name, hash);
            list.add(said);
        }
        return text(list);
    }

    private static String unlinked(String json, Set<String> ids) {
        var left = new LinkedHashMap<>(SqlFacts.json(json));
        LINKS.forEach(member -> {
            if (left.get(member) instanceof String id && ids.contains(id)) {
                left.remove(member);
            }
        });
        return text(left);
    }

    private static String text(Object json) {
        return new String(Json.write(json), StandardCharsets.UTF_8);
    }
}
