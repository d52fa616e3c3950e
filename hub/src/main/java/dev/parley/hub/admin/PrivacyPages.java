package dev.parley.hub.admin;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.Memories.Memory;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.extension.AdminRow;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.PersonalData;
import dev.parley.extension.PersonalRead;
import dev.parley.hub.admin.PrivacyOperation.Erase;
import dev.parley.hub.admin.PrivacyOperation.Erased;
import dev.parley.hub.admin.PrivacyOperation.ListMemories;
import dev.parley.hub.admin.PrivacyOperation.MemoryPage;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.PageToken;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Handlers for the export and erasure of the data about a principal or a context, and those of extensions. */
final class PrivacyPages {
    /** How long an erasure waits for readers that need the write-ahead log. */
    private static final Duration TRUNCATION = Duration.ofSeconds(10);

    /** Begin of the names of operations that read personal data. */
    private static final String PREFIX = AdminRow.fullName("privacy/");

    private final Engine engine;
    private final List<HubExtension> extensions;
    private final @Nullable Administration administration;

    /** @param administration null if the hub keeps no members and no audit */
    PrivacyPages(Engine engine, List<HubExtension> extensions, @Nullable Administration administration) {
        this.engine = engine;
        this.extensions = extensions;
        this.administration = administration;
    }

    Handlers handlers() {
        Handlers handlers = Handlers.NONE
                .call(
                        PrivacyOperation.TASKS,
                        (given, operator) -> engine.about(subject(given), given.after(), (int) given.limit()))
                .call(PrivacyOperation.MEMORIES, (given, operator) -> memories(given))
                .call(PrivacyOperation.ERASE, this::erase);
        for (HubExtension extension : extensions) {
            handlers = handlers.and(extension.administration());
        }
        for (Map.Entry<String, AgentEndpoint> one : handlers.byName().entrySet()) {
            if (one.getKey().startsWith(PREFIX) && !one.getKey().equals(PrivacyOperation.ERASE.name())) {
                String what = one.getKey().substring(PREFIX.length());
                handlers = handlers.with(one.getKey(), new Reading(what, one.getValue(), administration));
            }
        }
        return handlers;
    }

    /**
     * Audits the read of personal data by an operator: each page, because a read may begin at any.
     *
     * @param administration null if the hub keeps no audit
     */
    private record Reading(
            String what, AgentEndpoint read, @Nullable Administration administration) implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext operator) {
            if (!(operation
                    instanceof PersonalRead personal)) { // else the data would be read before anyone knows whose
                throw new IllegalArgumentException(operation.name() + " (expected: a PersonalRead)");
            }
            Subject subject = subject(personal);
            R answer = read.call(operation, operator);
            if (administration != null) {
                administration.audit().note(entry("privacy.read", subject, operator, Map.of("what", what)));
            }
            return answer;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext operator) {
            return read.watch(operation, operator);
        }
    }

    private static Subject subject(PersonalRead read) {
        if (read.principal() == null && read.contextId() == null) {
            throw A2AException.invalidParams("principal", "missing, and so is contextId (expected: one of them)");
        }
        requireText("principal", read.principal());
        requireText("contextId", read.contextId());
        requireText("group", read.group());
        return new Subject(read.group(), read.principal(), read.contextId());
    }

    /** An empty text is a variable of a script that is not set, and must not mean all. */
    private static void requireText(String name, @Nullable String text) {
        if (text != null && text.isBlank()) {
            throw A2AException.invalidParams(name, "empty (expected: left out, or a text)");
        }
    }

    private MemoryPage memories(ListMemories given) {
        Subject subject = subject(given);
        String token = given.after();
        Memories.Key after = token == null
                ? null
                : PageToken.read(
                        subject,
                        token,
                        3,
                        key -> new Memories.Key(new Scope(subject.group(), key.get(0)), key.get(1), key.get(2)),
                        () -> A2AException.invalidParams(
                                "after", "not a token of this list (expected: next of the page before)"));
        List<Memory> page = engine.memories(subject, after, (int) given.limit());
        if (page.isEmpty()) {
            return new MemoryPage(page, null);
        }
        Memories.Key last = page.getLast().key();
        return new MemoryPage(
                page, PageToken.of(subject, List.of(last.owner().owner(), last.agent(), last.contextId())));
    }

    private Erased erase(Erase given, CallContext operator) {
        Subject subject = subject(given);
        Long keys = null;
        Long auditRows = null;
        String pending = null;
        var held = new LinkedHashMap<String, Object>();
        Administration kept = administration;
        String member = subject.contextId() == null ? subject.principal() : null;
        if (kept != null && member != null) {
            // First, so that no further tasks begin by them.
            keys = (long) kept.directory().erase(subject.group(), member);
        }
        CallContext among = operator.among(subject.group());
        String contextId = subject.contextId();
        if (contextId != null) {
            unlink(List.of(contextId), among);
        }
        long tasks = engine.erase(subject, operator, ids -> unlink(ids, among));
        if (member != null) {
            personalData().forEach(data -> held.putAll(data.erase(member, given.withStatements(), among)));
        }
        if (kept != null) {
            if (member != null) {
                auditRows = (long) kept.audit().forget(subject.group(), member);
            }
            if (contextId != null) {
                kept.audit().forgetContext(subject.group(), subject.principal(), contextId);
            }
            var erased = new Erased(keys, tasks, auditRows, null, held);
            kept.audit().note(entry("privacy.erased", subject, operator, erased.numbers()));
            if (!kept.awaitErased(TRUNCATION)) {
                pending = "the write-ahead log, until a query that still reads it has ended";
            }
        }
        personalData().forEach(data -> data.erased(among));
        return new Erased(keys, tasks, auditRows, pending, held);
    }

    private void unlink(Collection<String> ids, CallContext operator) {
        personalData().forEach(data -> data.unlink(ids, operator));
    }

    private Stream<PersonalData> personalData() {
        return extensions.stream().flatMap(extension -> extension.personalData().stream());
    }

    /** Omits the name, which may be erased, or may have been: a caller that knows the name finds the entry. */
    private static AuditEntry entry(String action, Subject subject, CallContext operator, Map<String, ?> detail) {
        String principal = subject.principal();
        return new AuditEntry(
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
