package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The graphs of two hubs that work with one PostgreSQL database at the same time. */
final class TwoHubs implements AutoCloseable {
    static final String GROUP = "group";
    static final CallContext ALICE = CallContext.of("alice", new Scope(GROUP, "alice"));
    static final CallContext BOB = CallContext.of("bob", new Scope(GROUP, "bob"));
    static final CallContext CAROL = CallContext.of("carol", new Scope("other", "carol"));
    static final CallContext OPERATOR = CallContext.of("operator", new Scope(GROUP, "operator"));

    final SharedSchema schema = new SharedSchema();
    final Hub one;
    final Hub other;

    /** What a hub has of graphs. */
    record Hub(Database database, Graph graph) {
        void add(CallContext caller, String subject, String value) {
            UpdateResult result = graph.update(adding(subject, value), caller);
            if (!result.success()) {
                throw new AssertionError(result);
            }
        }

        String values(CallContext caller) {
            String query = "{ statements(first: 1000) { nodes { subject { id } object { value } } } }";
            return String.valueOf(
                    graph.query(Query.graphql(query, Map.of()), caller).data());
        }

        long number(String sql) {
            return database.read(session -> session.number(sql));
        }
    }

    TwoHubs() {
        this(null, ChangeStore.Keeping.DEFAULTS);
    }

    /** @param service server of the statements; null if they are in the database */
    TwoHubs(@Nullable SparqlService service, ChangeStore.Keeping keeping) {
        this.one = hub(service, keeping);
        this.other = hub(service, keeping);
    }

    private Hub hub(@Nullable SparqlService service, ChangeStore.Keeping keeping) {
        Database database = schema.shared();
        InstantSource clock = InstantSource.system();
        AuditTrail trail = AuditTrail.in(database, clock);
        schema.run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey"); // of one chain
        return new Hub(
                database,
                service == null
                        ? Graph.in(database, trail, clock, trail.steadyClock(), keeping)
                        : Graph.in(database, trail, clock, service));
    }

    static Update adding(String subject, String value) {
        return Update.of(Patch.add(Statement.of(subject, "ex:status", Literal.of(value))));
    }

    List<Hub> hubs() {
        return List.of(one, other);
    }

    @Override
    public void close() {
        for (Hub hub : hubs()) {
            hub.graph.close();
            hub.database.close();
        }
    }
}
