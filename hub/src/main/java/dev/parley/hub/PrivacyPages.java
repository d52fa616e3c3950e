package dev.parley.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Task;
import dev.parley.store.AuditTrail;
import dev.parley.trust.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * For operators: what the hub holds about somebody, or about a context, and removing it.
 *
 * <p>{@code GET /tasks} shows tasks, behind the id {@code after}, at most {@code limit}; {@code POST /erase} removes them and,
 * with a principal, the member with its keys, and its name from the audit. Both take {@code group}, {@code principal} and
 * {@code contextId}, one of the latter two at least.
 */
final class PrivacyPages implements AdminPages {
    private static final int LIMIT = 100;
    private static final int MOST = 1_000;

    private final Engine engine;
    private final @Nullable Administration administration;

    /** @param administration null if the hub keeps nothing but tasks */
    PrivacyPages(Engine engine, @Nullable Administration administration) {
        this.engine = engine;
        this.administration = administration;
    }

    @Override
    public WireAnswer answer(AdminRequest request, CallContext operator) {
        if (request.steps() != 1) {
            throw request.nothingHere();
        }
        return switch (request.step(0)) {
            case "tasks" -> tasks(request);
            case "erase" -> erase(request, operator);
            default -> throw request.nothingHere();
        };
    }

    private static Subject subject(AdminRequest request) {
        String principal = request.parameter("principal");
        String contextId = request.parameter("contextId");
        if (principal == null && contextId == null) {
            throw A2AException.invalidParams("principal", "missing, and so is contextId (expected: one of them)");
        }
        return new Subject(
                Objects.requireNonNullElse(request.parameter("group"), Principal.DEFAULT_GROUP), principal, contextId);
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

    private WireAnswer erase(AdminRequest request, CallContext operator) {
        request.requirePost();
        Subject subject = subject(request);
        var done = new LinkedHashMap<String, Object>();
        Administration kept = administration;
        String member = subject.contextId() == null ? subject.principal() : null;
        if (kept != null && member != null) {
            // First, so that nobody begins further tasks by them.
            done.put("keys", kept.directory().erase(subject.group(), member));
        }
        done.put("tasks", engine.erase(subject, operator));
        if (kept != null) {
            if (member != null) {
                done.put("auditRows", kept.audit().forget(subject.group(), member));
            }
            kept.audit().note(tombstone(subject, operator, done));
        }
        return AdminRequest.json(done);
    }

    /** Says that something is gone, and not whose it was: only who knows the name finds it. */
    private static AuditTrail.Entry tombstone(Subject subject, CallContext operator, Map<String, ?> done) {
        String principal = subject.principal();
        return new AuditTrail.Entry(
                operator.scope().group(),
                operator.caller(),
                "privacy.erased",
                subject.contextId() == null ? subject.group() : subject.contextId(),
                principal == null ? "" : AuditTrail.hashed(subject.group() + "/" + principal),
                "ok",
                operator.address(),
                "",
                done);
    }
}
