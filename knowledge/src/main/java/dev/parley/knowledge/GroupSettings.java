package dev.parley.knowledge;

import static dev.parley.knowledge.AuditEntries.entry;
import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNullElse;

import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.sparql.ShaclShapes;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.SharedGraphs;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Settings of groups for their graphs: rules and shapes. Safe for any thread. */
final class GroupSettings implements GroupListener {
    private static final String RULES = "alignment";
    private static final String SHAPES = "shapes";

    private final SqlStatementStore statements;
    private final AuditTrail trail;
    private final Map<String, Alignment> rules = remembered();
    private final Map<String, Optional<ShaclShapes>> shapes = remembered();

    /** Number of invalidations; a value read before the latest one must not be cached. */
    private final AtomicLong forgotten = new AtomicLong();

    GroupSettings(SqlStatementStore statements, AuditTrail trail) {
        this.statements = statements;
        this.trail = trail;
        statements.database().listen(this);
        statements.shared().onChange(session -> forgetAll());
    }

    private static <T> Map<String, T> remembered() {
        return Caffeine.newBuilder()
                .maximumSize(SqlStatementStore.MAX_GROUPS)
                .<String, T>build()
                .asMap();
    }

    /** The rules of a group. */
    Alignment rules(String group) {
        Alignment known = rules.get(group);
        if (known != null) {
            return known;
        }
        long before = forgotten.get();
        Alignment read = statements.lookUp(group, GroupSettings::alignment);
        remember(rules, group, read, before);
        return read;
    }

    private <T> void remember(Map<String, T> memory, String group, T read, long before) {
        memory.computeIfAbsent(group, name -> forgotten.get() == before ? read : null);
    }

    /** Sets the rules of the group of {@code by}, recorded in the audit with that name. */
    void rules(Alignment alignment, CallContext by) {
        String group = by.scope().group();
        SharedGraphs shared = statements.shared();
        long number = statements.transact(
                group,
                (writing, session) -> {
                    writing.setting(RULES, alignment.json());
                    trail.add(session, entry(by, "knowledge.rules", group, "", "ok", Map.of()));
                    return shared.changed(session);
                },
                set -> {
                    if (shared.isShared()) {
                        forgetAll(); // another hub may have set others since
                    } else {
                        rules.put(group, alignment);
                    }
                });
        shared.await(number);
    }

    /** Replaces a name in the rules by its hash. On the writer thread. */
    static void hashSource(SqlWriting writing, String name) throws SQLException {
        Alignment alignment = alignment(writing.session(), writing.space());
        Alignment hashed = alignment.withSource(name, AuditChain.hashed(name));
        if (!hashed.equals(alignment)) {
            writing.setting(RULES, hashed.json());
        }
    }

    /** Has the rules of a group read again on next use, because a name in them was erased. */
    void forgetRules(String group) {
        forgotten.incrementAndGet();
        rules.remove(group);
    }

    /** Drops cached rules and shapes after a failed commit, which may have set them. */
    @Override
    public void reopened(DatabaseSession session) {
        forgetAll();
    }

    private void forgetAll() {
        forgotten.incrementAndGet();
        rules.clear();
        shapes.clear();
    }

    private static Alignment alignment(DatabaseSession session, GroupCache space) throws SQLException {
        String json = setting(session, space, RULES);
        return json == null ? Alignment.NONE : Alignment.read(json);
    }

    /** The shapes of a group as statements, each about the classes of its graph. */
    List<Statement> declarations(String group) {
        Optional<ShaclShapes> set = shapes(group);
        return set.isPresent() ? set.get().declarations() : List.of();
    }

    /** Returns the shapes of a group; empty if it has none, so that SHACL is not loaded before its first use. */
    Optional<ShaclShapes> shapes(String group) {
        Optional<ShaclShapes> known = shapes.get(group);
        if (known == null) {
            long before = forgotten.get();
            known = parsed(shapesText(group), group);
            remember(shapes, group, known, before);
        }
        return known;
    }

    private Optional<ShaclShapes> parsed(String turtle, String group) {
        if (!turtle.isBlank()) {
            Libraries.requireShapes();
        }
        return turtle.isBlank()
                ? Optional.empty()
                : Optional.of(statements.compute(group, PATIENCE, () -> ShaclShapes.parse(turtle)));
    }

    /** The shapes of a group as they were set, in Turtle; empty if there are none. */
    String shapesText(String group) {
        return statements.lookUp(group, (session, space) -> requireNonNullElse(setting(session, space, SHAPES), ""));
    }

    /**
     * Sets the shapes of the group of {@code by}, recorded in the audit with that name.
     *
     * @param told receives the group as soon as the shapes apply; must not block
     * @throws A2AException INVALID_PARAMS if the text is not valid shapes; the old ones stay
     */
    void shapes(String turtle, CallContext by, Consumer<String> told) {
        String group = by.scope().group();
        Optional<ShaclShapes> parsed = parsed(turtle, group);
        parsed.ifPresent(ShaclShapes::requireLinear);
        SharedGraphs shared = statements.shared();
        long number = statements.transact(
                group,
                (writing, session) -> {
                    writing.setting(SHAPES, turtle.isBlank() ? null : turtle);
                    trail.add(session, entry(by, "knowledge.shapes", group, "", "ok", Map.of()));
                    return shared.changed(session);
                },
                set -> {
                    if (shared.isShared()) {
                        forgetAll();
                    } else {
                        shapes.put(group, parsed);
                    }
                    told.accept(group);
                });
        shared.await(number);
    }

    private static @Nullable String setting(DatabaseSession session, GroupCache space, String name)
            throws SQLException {
        return session.first(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT value FROM kg_setting WHERE space = ? AND name = ?",
                        space.number(),
                        name)
                .orElse(null);
    }
}
