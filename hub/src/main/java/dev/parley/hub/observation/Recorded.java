package dev.parley.hub.observation;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes an audit row for each call of one agent, if the hub is set so. Changes of tasks, of webhooks and of the data of
 * extensions leave rows in their own transactions, whatever the setting. Safe for any thread.
 *
 * @param audit null for no audit at all
 * @param all whether each call leaves a row, whatever it changes
 */
public record Recorded(@Nullable AuditTrail audit, String agent, boolean all) {
    public AgentEndpoint before(AgentEndpoint endpoint) {
        if (!all || audit == null) {
            return endpoint;
        }
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return record(operation, context, () -> endpoint.call(operation, context));
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                return record(operation, context, () -> endpoint.watch(operation, context));
            }
        };
    }

    private <T> T record(Operation operation, CallContext context, Supplier<T> work) {
        String outcome = "";
        try {
            T result = work.get();
            outcome = "ok";
            return result;
        } catch (Throwable refused) {
            outcome = A2AError.of(refused).name();
            throw refused;
        } finally {
            Map<String, String> detail = Map.of("operation", operation.name(), "dialect", context.dialect());
            note(AuditTrail.ANSWERED, requireNonNullElse(operation.relatedTask(), agent), outcome, context, detail);
        }
    }

    private void note(String action, String target, String outcome, CallContext context, Map<String, String> more) {
        if (audit == null) {
            return;
        }
        var detail = new TreeMap<String, Object>(more);
        detail.put("agent", agent);
        if (context.chain().isPassedOn()) {
            detail.put("agents", context.chain().agents());
        }
        audit.note(new AuditEntry(
                context.scope().group(),
                context.caller(),
                action,
                target,
                "",
                outcome,
                context.address(),
                requireNonNullElse(context.traceparent(), ""),
                detail));
    }
}
