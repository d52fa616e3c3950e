package dev.parley.hub.admin;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.HubExtension;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.Entry;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Handlers for the export and erasure of the data about a principal or a context, and those of extensions. */
final class PrivacyPages {
    private static final int LIMIT = 100;
    /** How long an erasure waits for readers that need the write-ahead log. */
    private static final Duration TRUNCATION = Duration.ofSeconds(10);

    /** Begin of the names of operations that read personal data. */
    private static final String PREFIX = "privacy/";

    private final Engine engine;
    private final List<HubExtension> extensions;
    private final @Nullable Administration administration;

    /** @param administration null if the hub keeps no members and no audit */
    PrivacyPages(Engine engine, List<HubExtension> extensions, @Nullable Administration administration) {
        this.engine = engine;
        this.extensions = extensions;
        this.administration = administration;
    }

    Map<String, AdminHandler> handlers() {
        var handlers = new HashMap<String, AdminHandler>();
        handlers.put("privacy/tasks", reading("tasks", (given, operator) -> tasks(given)));
        handlers.put("privacy/erase", this::erase);
        for (HubExtension extension : extensions) {
            extension.administration().forEach((name, handler) -> {
                boolean personal = name.startsWith(PREFIX);
                handlers.put(name, personal ? reading(name.substring(PREFIX.length()), handler) : handler);
            });
        }
        return handlers;
    }

    /** Audits the read of personal data by an operator: each page, because a read may begin at any. */
    private AdminHandler reading(String what, AdminHandler read) {
        return (given, operator) -> {
            Object answer = read.answer(given, operator);
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
            unlink(List.of(contextId), among);
        }
        done.put("tasks", engine.erase(subject, operator, ids -> unlink(ids, among)));
        if (member != null) {
            personalData().forEach(held -> done.putAll(held.erase(member, given, among)));
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
        personalData().forEach(held -> held.erased(among));
        return done;
    }

    private void unlink(Collection<String> ids, CallContext operator) {
        personalData().forEach(held -> held.unlink(ids, operator));
    }

    private Stream<PersonalData> personalData() {
        return extensions.stream().flatMap(extension -> extension.personalData().stream());
    }

    /** Omits the name, which may be erased, or may have been: a caller that knows the name finds the entry. */
    private static Entry entry(String action, Subject subject, CallContext operator, Map<String, ?> detail) {
        String principal = subject.principal();
        return new Entry(
                operator.scope().group(),
                operator.caller(),
                action,
                subject.contextId() == null ? subject.group() : AuditChain.hashed(subject.contextId()),
                principal == null ? "" : AuditChain.hashed(subject.group() + "/" + principal),
                "ok",
                operator.address(),
                "",
                detail);
    }
}
