package dev.parley.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.knowledge.AuditEntry;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.Review;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.spi.Page;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Task;
import dev.parley.store.AuditTrail;
import dev.parley.trust.Principal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * For operators: export and erasure of the data about a principal or a context.
 *
 * <p>{@code GET /tasks} shows tasks, behind the id {@code after}, at most {@code limit}; {@code POST /erase} removes them and,
 * with a principal, the member with its keys, and its name from the audit and the knowledge graph; with {@code statements},
 * statements that only this principal made, too. Both take {@code group}, {@code principal} and {@code contextId}, one of the
 * latter two at least. {@code GET /statements}, {@code /reviews} and {@code /questions} show the statements of a principal in
 * the graph, its reviewed and waiting updates, and its queries.
 */
final class PrivacyPages implements AdminPages {
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

    @Override
    public WireAnswer answer(AdminRequest request, CallContext operator) {
        if (request.steps() != 1) {
            throw request.nothingHere();
        }
        request.requireOwnSite();
        String what = request.step(0);
        return switch (what) {
            case "tasks" -> read(what, request, operator, tasks(request));
            case "statements" -> read(what, request, operator, statements(request));
            case "reviews" -> read(what, request, operator, reviews(request));
            case "questions" -> read(what, request, operator, questions(request));
            case "erase" -> erase(request, operator);
            default -> throw request.nothingHere();
        };
    }

    /** Audits the read of personal data by an operator: each page, because a read may begin at any. */
    private WireAnswer read(String what, AdminRequest request, CallContext operator, WireAnswer answer) {
        if (administration != null) {
            administration.audit().note(entry("privacy.read", subject(request), operator, Map.of("what", what)));
        }
        return answer;
    }

    private static Subject subject(AdminRequest request) {
        String principal = request.parameter("principal");
        String contextId = request.parameter("contextId");
        if (principal == null && contextId == null) {
            throw A2AException.invalidParams("principal", "missing, and so is contextId (expected: one of them)");
        }
        return new Subject(group(request), principal, contextId);
    }

    private WireAnswer tasks(AdminRequest request) {
        request.requireGet();
        int limit = (int) request.number("limit", LIMIT, MOST);
        List<Task> tasks = engine.about(subject(request), request.parameter("after"), limit);
        return AdminRequest.json(Map.of(
                "tasks",
                tasks.stream()
                        .map(task -> Json.read(Json.write(task), Map.class))
                        .toList()));
    }

    private static String principal(AdminRequest request) {
        request.requireGet();
        String principal = request.parameter("principal");
        if (principal == null) {
            throw A2AException.invalidParams("principal", "missing (expected: whose)");
        }
        return principal;
    }

    private static String group(AdminRequest request) {
        return Objects.requireNonNullElse(request.parameter("group"), Principal.DEFAULT_GROUP);
    }

    private WireAnswer statements(AdminRequest request) {
        Page<Statement> page = graph.get().saidBy(group(request), principal(request), request.parameter("after"), MOST);
        return page(
                "statements",
                page.items().stream()
                        .map(one -> Json.read(Json.write(one), Map.class))
                        .toList(),
                page.next());
    }

    private WireAnswer reviews(AdminRequest request) {
        Page<Review> page = graph.get().reviewsOf(group(request), principal(request), request.parameter("after"), MOST);
        return page("reviews", page.items().stream().map(KnowledgePages::shown).toList(), page.next());
    }

    private WireAnswer questions(AdminRequest request) {
        List<AuditEntry> entries = graph.get()
                .auditOf(group(request), principal(request), request.number("after", 0, Long.MAX_VALUE), MOST);
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

    private static WireAnswer page(String name, List<?> items, @Nullable String next) {
        return AdminRequest.json(next == null ? Map.of(name, items) : Map.of(name, items, "next", next));
    }

    private WireAnswer erase(AdminRequest request, CallContext operator) {
        request.requirePost();
        Subject subject = subject(request);
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
            Graph.Erased erased = graph.get().erase(member, "true".equals(request.parameter("statements")), among);
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
        return AdminRequest.json(done);
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
