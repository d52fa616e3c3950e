package dev.parley.hub;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.knowledge.AuditEntry;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.Review;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.spi.Page;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditTrail;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Handlers for the export and erasure of the data about a principal or a context. */
final class PrivacyPages {
    private static final int LIMIT = 100;
    /** How long an erasure waits for readers that need the write-ahead log. */
    private static final Duration TRUNCATION = Duration.ofSeconds(10);

    private static final int MOST = 1_000;

    private final Engine engine;
    private final SharedGraph graph;
    private final @Nullable Administration administration;

    /** @param administration null if the hub keeps no members and no audit */
    PrivacyPages(Engine engine, SharedGraph graph, @Nullable Administration administration) {
        this.engine = engine;
        this.graph = graph;
        this.administration = administration;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "privacy/tasks", reading("tasks", this::tasks),
                "privacy/statements", reading("statements", this::statements),
                "privacy/reviews", reading("reviews", this::reviews),
                "privacy/questions", reading("questions", this::questions),
                "privacy/erase", this::erase);
    }

    /** Audits the read of personal data by an operator: each page, because a read may begin at any. */
    private AdminHandler reading(String what, Function<AdminParameters, Object> read) {
        return (given, operator) -> {
            Object answer = read.apply(given);
            if (administration != null) {
                administration.audit().note(entry("privacy.read", subject(given), operator, Map.of("what", what)));
            }
            return answer;
        };
    }

    private static Subject subject(AdminParameters given) {
        String principal = given.textOrNull("principal");
        String contextId = given.textOrNull("contextId");
        if (principal == null && contextId == null) {
            throw A2AException.invalidParams("principal", "missing, and so is contextId (expected: one of them)");
        }
        return new Subject(given.group(), principal, contextId);
    }

    private Object tasks(AdminParameters given) {
        int limit = (int) given.number("limit", LIMIT);
        return Map.of("tasks", engine.about(subject(given), given.textOrNull("after"), limit));
    }

    private Object statements(AdminParameters given) {
        Page<Statement> page =
                graph.get().saidBy(given.group(), given.text("principal"), given.textOrNull("after"), MOST);
        return page("statements", page.items(), page.next());
    }

    private Object reviews(AdminParameters given) {
        Page<Review> page =
                graph.get().reviewsOf(given.group(), given.text("principal"), given.textOrNull("after"), MOST);
        return page("reviews", page.items().stream().map(KnowledgePages::shown).toList(), page.next());
    }

    private Object questions(AdminParameters given) {
        List<AuditEntry> entries =
                graph.get().auditOf(given.group(), given.text("principal"), number(given.textOrNull("after")), MOST);
        return page(
                "questions",
                entries.stream()
                        .map(one -> Map.of(
                                "at",
                                one.at().toString(),
                                "operation",
                                one.operation(),
                                "outcome",
                                one.outcome(),
                                "detail",
                                one.detail()))
                        .toList(),
                entries.size() < MOST ? null : Long.toString(entries.getLast().number()));
    }

    private static long number(@Nullable String after) {
        try {
            return after == null ? 0 : Long.parseLong(after);
        } catch (NumberFormatException wrong) {
            throw A2AException.invalidParams("after", after + " (expected: a number)");
        }
    }

    private static Map<String, Object> page(String name, List<?> items, @Nullable String next) {
        return next == null ? Map.of(name, items) : Map.of(name, items, "next", next);
    }

    private Object erase(AdminParameters given, CallContext operator) {
        Subject subject = subject(given);
        var done = new LinkedHashMap<String, Object>();
        Administration kept = administration;
        String member = subject.contextId() == null ? subject.principal() : null;
        if (kept != null && member != null) {
            // First, so that no further tasks begin by them.
            done.put("keys", kept.directory().erase(subject.group(), member));
        }
        CallContext among = operator.among(subject.group());
        String contextId = subject.contextId();
        if (contextId != null) {
            graph.get().unlink(List.of(contextId), among);
        }
        done.put("tasks", engine.erase(subject, operator, ids -> graph.get().unlink(ids, among)));
        if (member != null) {
            Graph.Erased erased = graph.get().erase(member, given.isTrue("statements"), among);
            done.put("statements", erased.statements());
            done.put("knowledgeRows", erased.rows());
        }
        if (kept != null) {
            if (member != null) {
                done.put("auditRows", kept.audit().forget(subject.group(), member));
            }
            if (contextId != null) {
                kept.audit().forgetContext(subject.group(), subject.principal(), contextId);
            }
            kept.audit().note(entry("privacy.erased", subject, operator, done));
            if (!kept.awaitErased(TRUNCATION)) {
                done.put("pending", "the write-ahead log, until a query that still reads it has ended");
            }
        }
        return done;
    }

    /** Does not say whom it is about: only who knows the name finds it, for the name may be erased, or may have been. */
    private static AuditTrail.Entry entry(String action, Subject subject, CallContext operator, Map<String, ?> detail) {
        String principal = subject.principal();
        return new AuditTrail.Entry(
                operator.scope().group(),
                operator.caller(),
                action,
                subject.contextId() == null ? subject.group() : AuditTrail.hashed(subject.contextId()),
                principal == null ? "" : AuditTrail.hashed(subject.group() + "/" + principal),
                "ok",
                operator.address(),
                "",
                detail);
    }
}
