package dev.parley.knowledge.store;

import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.SlicedWrites;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Erases the name of a caller, or the ids of tasks, in the rows that a group's graph keeps beside its statements. Rows are searched beside the
 * writer and changed in small transactions, so an erasure that failed is to be repeated. For all that was written before it began.
 */
public final class Erasure {
    private static final int AT_ONCE = 1_000;

    /** Members of a provenance that name a principal. */
    private static final List<String> NAMES =
            List.of("recordedBy", "sourceAgentId", "claimedSourceAgentId", "approvedBy");

    /** Members of provenances by the erased principal whose values are replaced by hashes, because the principal chose them. */
    private static final Set<String> HASHED = Set.of("claimedSourceAgentId", "taskId");

    /** Members of a provenance that name its author. */
    private static final List<String> TELLERS = List.of("recordedBy", "sourceAgentId");

    /** Members that name the task or session of an update. */
    private static final List<String> LINKS = List.of("taskId", "sessionId");

    private final SqlStatementStore statements;
    private final Database database;
    private final Sql sql;
    private final String group;
    private final GroupCache of;
    private final long space;

    public Erasure(SqlStatementStore statements, String group) {
        this.statements = statements;
        this.database = statements.database();
        this.sql = statements.sql();
        this.group = group;
        this.of = statements.space(group);
        this.space = of.number();
    }

    /**
     * Replaces the name of a principal by its hash, and removes what the principal wrote besides statements: justifications,
     * queries, keys of updates.
     *
     * @return number of affected rows
     */
    public int name(String name) {
        String hash = AuditChain.hashed(name);
        int rows = rewrite(
                "kg_task",
                "change_no",
                "task_id",
                "EXISTS (SELECT 1 FROM kg_change c JOIN kg_provenance y ON y.provenance = c.more WHERE c.space ="
                        + " kg_task.space AND c.change_no = kg_task.change_no AND ("
                        + isOne("y.json", TELLERS, "= ?") + ")"
                        // Excludes names that an earlier, failed erasure has hashed.
                        + " AND " + sql.member("y.json", "taskId") + " = kg_task.task_id)",
                name,
                AuditChain::hashed);
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
                JsonColumn.of(name),
                json -> unnamedInList(json, name, hash));
        rows += keys(name);
        rows += each(
                "DELETE FROM",
                "kg_review",
                "review_no",
                "",
                List.of(),
                "(caller = ? OR " + sql.member("request", "sourceAgentId") + " = ?)",
                List.of(name, name));
        rows += each(
                "UPDATE",
                "kg_review",
                "review_no",
                " SET decided_by = ?, remark = NULL",
                List.of(hash),
                "decided_by = ?",
                List.of(name));
        rows += audit(" SET caller = ?, detail = '{}'", List.of(hash), "caller = ?", name);
        return rows + audit(" SET detail = '{}'", List.of(), sql.member("detail", "sourceAgentId") + " = ?", name);
    }

    private int audit(String set, List<String> values, String condition, String name) {
        return each("UPDATE", "kg_audit", "audit_no", set, values, condition, List.of(name));
    }

    /** Removes the stored answers to a caller. */
    private int keys(String name) {
        return all(
                "",
                (session, after) -> session.list(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT key FROM kg_key WHERE space = ? AND caller = ? AND key > ? ORDER BY key LIMIT ?",
                        space,
                        name,
                        after,
                        AT_ONCE),
                (session, key) -> removeCounted(
                        session,
                        "DELETE FROM kg_key WHERE space = ? AND caller = ? AND key = ? RETURNING " + Storage.ROW
                                + " + octet_length(result)",
                        space,
                        name,
                        key));
    }

    /** Removes rows, and counts their bytes no more. */
    private int removeCounted(DatabaseSession session, String delete, @Nullable Object... values) throws SQLException {
        List<Long> bytes = session.list(row -> row.getLong(1), delete, values);
        database.storage()
                .add(
                        group,
                        Kind.KNOWLEDGE,
                        -bytes.stream().mapToLong(each -> each).sum());
        return bytes.size();
    }

    /** Changes or removes the rows that are read page by page. */
    private <T> int all(T first, SlicedWrites.RowsBehind<T> pages, SlicedWrites.RowChange<T> change) {
        return database.writeInSlices(first, pages, true, () -> true, change);
    }

    /** Changes or removes the matching rows. */
    private int each(
            String verb,
            String table,
            String key,
            String set,
            List<String> setValues,
            String where,
            List<String> values) {
        return all(
                0L,
                (session, last) -> {
                    var bound = new ArrayList<@Nullable Object>(List.of(space, last));
                    bound.addAll(values);
                    bound.add(AT_ONCE);
                    return session.list(
                            row -> row.getLong(1),
                            "SELECT " + key + " FROM " + table + " WHERE space = ? AND " + key + " > ? AND (" + where
                                    + ") ORDER BY " + key + " LIMIT ?",
                            bound.toArray());
                },
                (session, number) -> {
                    var bound = new ArrayList<@Nullable Object>(setValues);
                    bound.add(space);
                    bound.add(number);
                    bound.addAll(values);
                    String rows = " WHERE space = ? AND " + key + " = ? AND (" + where + ")";
                    String statement = verb + " " + table + set + rows;
                    return verb.startsWith("DELETE") && table.equals("kg_review")
                            ? removeCounted(session, statement + " RETURNING bytes", bound.toArray())
                            : session.update(statement, bound.toArray());
                });
    }

    /**
     * Replaces the source of statements: an erased name becomes its hash, so that the statements of one source stay separate
     * from those of others.
     */
    public int source(long from, String to) {
        return source("kg_assertion", from, to) + source("kg_statement", from, to);
    }

    private int source(String table, long from, String name) {
        record Key(long s, long p, long o, long g) {}
        String where = " WHERE space = ? AND s = ? AND p = ? AND o = ? AND g = ? AND source = ?";
        return all(
                new Key(0, 0, 0, 0),
                (session, after) -> session.list(
                        row -> new Key(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)),
                        "SELECT s, p, o, g FROM " + table + " WHERE space = ? AND source = ?"
                                + " AND (s, p, o, g) > (?, ?, ?, ?) ORDER BY s, p, o, g LIMIT ?",
                        space,
                        from,
                        after.s,
                        after.p,
                        after.o,
                        after.g,
                        AT_ONCE),
                (session, key) -> {
                    statements.noteUnlisted(session, group, of);
                    long to =
                            statements.terms().number(session, Resource.of(name)); // another erasure may have taken it
                    if (table.equals("kg_assertion")) {
                        String doubled =
                                " FROM kg_assertion" + where + " AND EXISTS (SELECT 1 FROM kg_assertion y WHERE"
                                        + " y.space = kg_assertion.space AND y.s = kg_assertion.s AND y.p = kg_assertion.p AND"
                                        + " y.o = kg_assertion.o AND y.g = kg_assertion.g AND y.source = ?)";
                        var unused = removeCounted(
                                session,
                                "DELETE" + doubled + " RETURNING bytes",
                                space,
                                key.s,
                                key.p,
                                key.o,
                                key.g,
                                to,
                                from);
                    }
                    return session.update(
                            "UPDATE " + table + " SET source = ?" + where, to, space, key.s, key.p, key.o, key.g, from);
                });
    }

    /** Removes references to these tasks and contexts. */
    public void links(Collection<String> ids) {
        Set<String> all = withHashes(ids);
        String list = JsonColumn.of(all);
        each("DELETE FROM", "kg_task", "change_no", "", List.of(), sql.inTexts("task_id"), List.of(list));
        String in = sql.inTexts("");
        UnaryOperator<Map<String, @Nullable Object>> without = withoutLinks(ids);
        UnaryOperator<String> unlinked = json -> JsonColumn.of(without.apply(JsonColumn.object(json)));
        rewrite("kg_provenance", "provenance", "json", isOne("json", LINKS, in), list, unlinked);
        rewrite("kg_audit", "audit_no", "detail", isOne("detail", LINKS, in), list, unlinked);
        rewrite("kg_review", "review_no", "request", isOne("request", LINKS, in), list, unlinked);
    }

    /** Condition that one of several members has a value, with one parameter each. */
    private String isOne(String column, List<String> members, String so) {
        return members.stream().map(name -> sql.member(column, name) + " " + so).collect(Collectors.joining(" OR "));
    }

    /** Changes a text in the matching rows; {@code value} is bound to each parameter of {@code where}. */
    private int rewrite(
            String table, String key, String column, String where, String value, UnaryOperator<String> change) {
        record Found(long key, String text) {}
        return all(
                new Found(0, ""),
                (session, last) -> {
                    var values = new ArrayList<@Nullable Object>(List.of(space, last.key));
                    where.chars().filter(c -> c == '?').forEach(parameter -> values.add(value));
                    values.add(AT_ONCE);
                    return session.list(
                            row -> new Found(row.getLong(1), DatabaseSession.text(row, 2)),
                            "SELECT " + key + ", " + column + " FROM " + table + " WHERE space = ? AND " + key
                                    + " > ? AND (" + where + ") ORDER BY " + key + " LIMIT ?",
                            values.toArray());
                },
                (session, row) -> session.update(
                        "UPDATE " + table + " SET " + column + " = ? WHERE space = ? AND " + key + " = ? AND " + column
                                + " = ?",
                        change.apply(row.text),
                        space,
                        row.key,
                        row.text));
    }

    /** Returns a provenance without the name; one written by the principal also loses its other texts, which may contain the name. */
    private String unnamed(String json, String name, String hash) {
        return JsonColumn.of(unnamed(JsonColumn.object(json), name, hash));
    }

    /** Removes a name from provenances. */
    public UnaryOperator<Map<String, @Nullable Object>> withoutName(String name) {
        return said -> unnamed(said, name, AuditChain.hashed(name));
    }

    private Map<String, @Nullable Object> unnamed(Map<String, @Nullable Object> said, String name, String hash) {
        boolean isTheirs = TELLERS.stream().anyMatch(member -> name.equals(said.get(member)));
        var left = new LinkedHashMap<String, @Nullable Object>();
        said.forEach((member, value) -> {
            if (name.equals(value) && NAMES.contains(member)) {
                left.put(member, hash);
            } else if (isTheirs && HASHED.contains(member)) {
                left.put(member, AuditChain.hashed(String.valueOf(value)));
            } else if (!isTheirs || NAMES.contains(member) || isOurs(member, value)) {
                left.put(member, value);
            }
        });
        return left;
    }

    /** True for members written by the graph itself, not by a caller under the same name. */
    private boolean isOurs(String member, @Nullable Object value) {
        return switch (member) {
            case "transactionId" -> value instanceof String id && of.hasMade(id);
            case "verificationStatus" -> Verification.VERIFIED.equals(value);
            default -> false;
        };
    }

    private static String unnamedInList(String json, String name, String hash) {
        List<Object> list = new ArrayList<>();
        for (Object one : JsonColumn.list(json)) {
            var said = new LinkedHashMap<Object, @Nullable Object>((Map<?, ?>) one);
            said.replace("sourceAgentId", name, hash);
            list.add(said);
        }
        return JsonColumn.of(list);
    }

    /** Ids of tasks or contexts, and their hashes, which stand for them where their author is erased. */
    public static Set<String> withHashes(Collection<String> ids) {
        return Stream.concat(ids.stream(), ids.stream().map(AuditChain::hashed)).collect(Collectors.toSet());
    }

    /** Removes ids of tasks and contexts from provenances. */
    public static UnaryOperator<Map<String, @Nullable Object>> withoutLinks(Collection<String> ids) {
        Set<String> all = withHashes(ids);
        return said -> {
            var left = new LinkedHashMap<>(said);
            LINKS.forEach(member -> {
                if (left.get(member) instanceof String id && all.contains(id)) {
                    left.remove(member);
                }
            });
            return left;
        };
    }

    /** Values of a provenance that name a principal, a task or a session. */
    public static Set<String> named(Map<String, @Nullable Object> provenance) {
        return Stream.concat(NAMES.stream(), LINKS.stream())
                .map(provenance::get)
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .collect(Collectors.toSet());
    }
}
