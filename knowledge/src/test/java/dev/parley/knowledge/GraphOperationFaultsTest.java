package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.spi.StoreException;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each change of a graph, with each of its accesses to the disk failing in turn: it is refused and nothing of it is there, or
 * it is there as a whole; and the same change succeeds as soon as the fault has passed. An erasure takes several transactions:
 * one that is refused may be done in part, and is done as a whole once it is repeated.
 */
@Timeout(300)
@Tag("heavy")
final class GraphOperationFaultsTest {
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-01-05T10:00:00Z"));

    /** What a group has, without numbers that its rows have among those of other groups. */
    private static final List<String> CONTENT = List.of(
            "SELECT s.lexical, p.lexical, o.lexical, g.lexical, certainty, hint, c.lexical FROM kg_statement x"
                    + " JOIN kg_term s ON s.term_no = x.s JOIN kg_term p ON p.term_no = x.p JOIN kg_term o ON o.term_no = x.o"
                    + " LEFT JOIN kg_term g ON g.term_no = x.g LEFT JOIN kg_term c ON c.term_no = x.source"
                    + " WHERE space = ? ORDER BY 1, 2, 3, 4",
            "SELECT s.lexical, o.lexical, certainty, c.lexical FROM kg_assertion x JOIN kg_term s ON s.term_no = x.s"
                    + " JOIN kg_term o ON o.term_no = x.o LEFT JOIN kg_term c ON c.term_no = x.source"
                    + " WHERE space = ? ORDER BY 1, 2, 4",
            "SELECT op, s.lexical, p.lexical, o.lexical, replaced, types, y.json FROM kg_change x"
                    + " JOIN kg_term s ON s.term_no = x.s JOIN kg_term p ON p.term_no = x.p JOIN kg_term o ON o.term_no = x.o"
                    + " LEFT JOIN kg_provenance y ON y.provenance = x.provenance WHERE x.space = ? ORDER BY change_no",
            "SELECT task_id FROM kg_task WHERE space = ? ORDER BY change_no",
            "SELECT state, caller, request, reason, decided_by, remark FROM kg_review WHERE space = ? ORDER BY review_no",
            "SELECT action, actor, outcome FROM audit a JOIN kg_space s ON s.group_id = a.group_id WHERE space = ?"
                    + " ORDER BY row_no",
            "SELECT caller, key, result FROM kg_key WHERE space = ? ORDER BY 1, 2",
            "SELECT name, value FROM kg_setting WHERE space = ? ORDER BY 1",
            "SELECT g.lexical, p.lexical, statements FROM kg_tally x LEFT JOIN kg_term g ON g.term_no = x.g"
                    + " JOIN kg_term p ON p.term_no = x.p WHERE space = ? AND statements <> 0 ORDER BY 1, 2");

    /** A change of a group. */
    enum Operation {
        ADD {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.update(
                        Update.of(Patch.add(status("ex:new", "one")), Patch.add(status("ex:p1", "two")))
                                .forTask("task")
                                .with(Map.of("idempotencyKey", "key")),
                        caller);
            }
        },
        REPLACE {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.update(Update.of(Patch.replace(status("ex:p1", "replaced"))), caller);
            }
        },
        REMOVE {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.update(Update.of(Patch.remove(status("ex:p1", "active"))), caller);
            }
        },
        SPARQL {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                String text = "DELETE { ?s <ex:status> ?o } INSERT { ?s <ex:was> ?o } WHERE { ?s <ex:status> ?o }";
                graph.update(new Update(List.of(), text, null, null, null, null, Map.of()), caller);
            }
        },
        HOLD {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.update(Update.of(Patch.add(status("ex:p1", "law").in("ex:law"))), caller);
            }
        },
        APPROVE {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.approve(review, "yes", caller);
            }
        },
        REJECT {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.reject(review, "no", caller);
            }
        },
        LOAD {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.load(List.of(status("ex:p1", "active"), status("ex:p3", "loaded")), caller, "file");
            }
        },
        RULES {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.rules(Alignment.NONE, caller);
            }
        },
        SHAPES {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.shapes("<ex:S> a <http://www.w3.org/ns/shacl#NodeShape> .", caller);
            }
        },
        CERTAINTY {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.defaultCertainty(caller.scope().group(), "ex:law", 0.5);
            }
        },
        ERASE {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.erase("alice", false, caller);
            }
        },
        UNLINK {
            @Override
            void make(Graph graph, CallContext caller, String review) {
                graph.unlink(List.of("old task"), caller);
            }
        };

        abstract void make(Graph graph, CallContext caller, String review);

        boolean isErasure() {
            return this == ERASE || this == UNLINK;
        }
    }

    private static Statement status(String subject, String value) {
        return Statement.of(subject, "ex:status", Literal.of(value));
    }

    @TempDir
    private Path directory;

    private final Faults faults = new Faults();
    private int groups;

    @ParameterizedTest
    @EnumSource
    void aChangeWhoseDiskFailsIsThereAsAWholeOrNotAtAll(Operation operation) {
        try (Database database = Database.open(directory, faults::wrap);
                Graph graph = Graph.in(database, AuditTrail.in(database, CLOCK), CLOCK)) {
            Group untouched = group(graph);
            Group changed = group(graph);
            changed.make(graph, operation);
            List<String> before = content(database, untouched);
            List<String> after = content(database, changed);
            assertThat(before).isNotEqualTo(after);
            int refusals = 0;
            boolean struck = true;
            for (int call = 1; struck; call++) {
                Fault fault = Fault.ERRORS.get(call % Fault.ERRORS.size());
                struck = false;
                for (boolean late : List.of(false, true)) {
                    Group group = group(graph);
                    if (late) {
                        faults.after(call, fault, Side.ALL);
                    } else {
                        faults.at(call, fault, Side.ALL);
                    }
                    boolean refused = isRefused(group, graph, operation);
                    struck |= faults.hits() > 0;
                    faults.pass();
                    refusals += refused ? 1 : 0;

                    List<String> found = content(database, group);
                    if (!operation.isErasure()) {
                        assertThat(found).as("call " + call).isIn(before, after);
                        // Only the answer of a change that is done may be lost.
                        assertThat(found.equals(after)).as("call " + call).isIn(!refused, late);
                    } else if (!refused) {
                        assertThat(found).as("call " + call).isEqualTo(after);
                    }
                    if (!found.equals(after)) {
                        group.make(graph, operation);
                        assertThat(content(database, group)).isEqualTo(after);
                    }
                }
            }
            assertThat(refusals).isPositive();
            try (Graph fresh = Graph.in(database, AuditTrail.in(database, CLOCK), CLOCK)) {
                for (int group = 1; group <= groups; group++) {
                    assertThat(statements(graph, group)).isEqualTo(statements(fresh, group));
                }
            }
        }
    }

    private static boolean isRefused(Group group, Graph graph, Operation operation) {
        try {
            group.make(graph, operation);
            return false;
        } catch (KnowledgeStoreException | StoreException refused) {
            return true;
        }
    }

    /** A group with something of everything. */
    private record Group(String name, CallContext operator, String review) {
        void make(Graph graph, Operation operation) {
            operation.make(graph, operator, review);
        }
    }

    private Group group(Graph graph) {
        String name = "group-" + ++groups;
        CallContext alice = CallContext.of("alice", new Scope(name, "alice"));
        CallContext operator = CallContext.of("operator", new Scope(name, "operator"));
        graph.rules(
                Alignment.read("{\"rules\":[{\"id\":\"r\",\"on\":\"update\",\"match\":{\"graph\":\"ex:law\"},"
                        + "\"effect\":\"review\"}]}"),
                operator);
        graph.update(
                Update.of(Patch.add(status("ex:p1", "active")), Patch.add(status("ex:p2", "active")))
                        .forTask("old task"),
                alice);
        graph.update(Update.of(Patch.add(status("ex:p2", "active"))), operator);
        graph.update(Update.of(Patch.add(status("ex:p1", "held").in("ex:law"))), alice);
        return new Group(
                name,
                operator,
                graph.reviews(name, null, null, 1).items().getFirst().id());
    }

    private static List<String> content(Database database, Group group) {
        return database.read(session -> {
            var content = new ArrayList<String>();
            long space;
            try (ResultSet row = session.bind("SELECT space FROM kg_space WHERE group_id = ?", group.name)
                    .executeQuery()) {
                space = row.getLong(1);
            }
            for (String select : CONTENT) {
                try (ResultSet rows = session.bind(select, space).executeQuery()) {
                    while (rows.next()) {
                        var text = new StringBuilder(CONTENT.indexOf(select) + ":");
                        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                            text.append(' ').append(rows.getString(i));
                        }
                        content.add(text.toString());
                    }
                }
            }
            return content;
        });
    }

    private static String statements(Graph graph, int group) {
        String name = "group-" + group;
        return String.valueOf(graph.query(
                        Query.graphql(
                                "{ statements { nodes { subject { id } object { value } graph certainty provenance } } }",
                                Map.of()),
                        CallContext.of("operator", new Scope(name, "operator")))
                .data());
    }
}
