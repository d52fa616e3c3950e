package dev.parley.registry.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryModel;
import dev.parley.registry.RegistryError;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Rows of the audit for changes of entries by callers, and for each change that is refused to a stranger. */
record ChangeAudit(AuditTrail audit) {
    /**
     * A handler that changes an entry.
     *
     * @param id of the entry in a request; null for none
     * @param reason of the change in a request; null for none
     */
    <O> CallHandler<O, Entry> ofEntry(
            String action,
            Function<O, @Nullable String> id,
            Function<O, @Nullable String> reason,
            CallHandler<O, Entry> handler) {
        return (given, caller) -> {
            Entry entry = changed(action, id, handler, given, caller);
            var detail = new TreeMap<String, Object>(Map.of(
                    "revision", entry.state().revision(),
                    "digest", entry.resource().digest(),
                    "visibility", EntryModel.word(entry.ownership().visibility()),
                    "status", EntryModel.word(entry.state().status())));
            String why = reason.apply(given);
            if (why != null) {
                detail.put("reason", why);
            }
            String owner = entry.ownership().group() + "/" + entry.ownership().principal();
            note(action, entry.id(), owner, "ok", detail, caller);
            return entry;
        };
    }

    /**
     * A handler that changes something else of an entry.
     *
     * @param detail of a request and its answer
     */
    <O, A> CallHandler<O, A> of(
            String action,
            Function<O, @Nullable String> id,
            BiFunction<O, A, Map<String, Object>> detail,
            CallHandler<O, A> handler) {
        return (given, caller) -> {
            A answer = changed(action, id, handler, given, caller);
            String target = requireNonNullElse(id.apply(given), "");
            note(action, target, "", "ok", detail.apply(given, answer), caller);
            return answer;
        };
    }

    private <O, A> A changed(
            String action, Function<O, @Nullable String> id, CallHandler<O, A> handler, O given, CallContext caller) {
        try {
            return handler.call(given, caller);
        } catch (A2AException refused) {
            if (refused.error() == RegistryError.NOT_OWNER) {
                note(action, requireNonNullElse(id.apply(given), ""), "", "denied", Map.of(), caller);
            }
            throw refused;
        }
    }

    private void note(
            String action, String target, String subject, String outcome, Map<String, ?> detail, CallContext caller) {
        audit.note(new AuditEntry(
                caller.scope().group(),
                caller.caller(),
                action,
                target,
                subject,
                outcome,
                caller.address(),
                Objects.toString(caller.traceparent(), ""),
                detail));
    }
}
