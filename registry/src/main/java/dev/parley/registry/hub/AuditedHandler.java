package dev.parley.registry.hub;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.RegistryError;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.store.Handler;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A handler that changes entries, and writes a row of the audit for each change, and for each one that is refused to a stranger. */
record AuditedHandler(String action, Handler handler, AuditTrail audit) implements Handler {
    /** Actions by operations. */
    private static final Map<String, String> ACTIONS = Map.of(
            RegistryProtocol.REGISTER, "registry.registered",
            RegistryProtocol.PUBLISH, "registry.published",
            RegistryProtocol.UPDATE, "registry.changed",
            RegistryProtocol.DELETE, "registry.deleted",
            RegistryProtocol.RESTORE, "registry.restored",
            RegistryProtocol.TRANSFER, "registry.transferred",
            RegistryProtocol.REVIEW, "registry.reviewed",
            RegistryProtocol.REVOKE, "registry.revoked",
            RegistryProtocol.SET_VIEWS, "registry.views",
            RegistryProtocol.IMPORT, "registry.imported");

    /** Members of requests and answers for rows of the audit; none has texts of documents. */
    private static final List<String> DETAILS =
            List.of("revision", "digest", "visibility", "status", "stars", "reason");

    /** The handler of an operation, with an audit if the operation changes entries. */
    static Handler of(String operation, Handler handler, AuditTrail audit) {
        String action = ACTIONS.get(operation);
        return action == null ? handler : new AuditedHandler(action, handler, audit);
    }

    @Override
    public Object answer(Map<String, @Nullable Object> given, CallContext caller) {
        Object answer;
        try {
            answer = handler.answer(given, caller);
        } catch (A2AException refused) {
            if (refused.error() == RegistryError.NOT_OWNER) {
                note(Objects.toString(given.get("id"), ""), "", "denied", Map.of(), caller);
            }
            throw refused;
        }
        Map<?, ?> result = answer instanceof Map<?, ?> map ? map : Map.of();
        var detail = new TreeMap<String, Object>();
        DETAILS.forEach(name -> {
            Object value = given.get(name) == null ? result.get(name) : given.get(name);
            if (value != null) {
                detail.put(name, value);
            }
        });
        if (result.get("results") instanceof List<?> all) {
            detail.put("entries", ids(all));
        }
        String owner = result.get("owner") == null ? "" : result.get("group") + "/" + result.get("owner");
        Object id = result.get("id") == null ? given.get("id") : result.get("id");
        note(Objects.toString(id, ""), owner, "ok", detail, caller);
        return answer;
    }

    /** The entries of an import. */
    private static List<String> ids(List<?> results) {
        return results.stream()
                .filter(each -> each instanceof Map<?, ?> result && result.get("id") != null)
                .map(each -> String.valueOf(((Map<?, ?>) each).get("id")))
                .toList();
    }

    private void note(String target, String subject, String outcome, Map<String, ?> detail, CallContext caller) {
        audit.note(new Entry(
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
