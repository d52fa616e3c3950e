package dev.parley.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.Operation;
import dev.parley.protocol.OwnMethod;
import dev.parley.store.AuditTrail;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes an audit row for each call of one agent, if the hub is set so. Changes of tasks, webhooks and knowledge graphs leave rows
 * in their own transactions, whatever the setting. Safe for any thread.
 */
final class Recorded {
    private final @Nullable AuditTrail audit;
    private final String agent;
    private final boolean all;

    /**
     * @param audit null for no audit at all
     * @param all whether each call leaves a row, whatever it changes
     */
    Recorded(@Nullable AuditTrail audit, String agent, boolean all) {
        this.audit = audit;
        this.agent = agent;
        this.all = all && audit != null;
    }

    private interface Work<T, X extends Exception> {
        T answer() throws X;
    }

    AgentEndpoint before(AgentEndpoint endpoint) {
        if (!all) {
            return endpoint;
        }
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return record(
                        operation.name(), operation.aboutTask(), context, () -> endpoint.call(operation, context));
            }

            @Override
            public EventStream watch(Operation.Watch operation, CallContext context) {
                return record(
                        operation.name(), operation.aboutTask(), context, () -> endpoint.watch(operation, context));
            }
        };
    }

    OwnMethod before(String name, OwnMethod method) {
        return all ? (params, caller) -> record(name, null, caller, () -> method.call(params, caller)) : method;
    }

    KnowledgeEndpoint before(KnowledgeEndpoint graph) {
        if (!all) {
            return graph;
        }
        return new KnowledgeEndpoint() {
            @Override
            public List<String> queryLanguages() {
                return graph.queryLanguages();
            }

            @Override
            public KnowledgeOperation.QueryResult query(KnowledgeOperation.Query query, CallContext context) {
                return record(query.name(), query.taskId(), context, () -> graph.query(query, context));
            }

            @Override
            public KnowledgeOperation.UpdateResult update(KnowledgeOperation.Update update, CallContext context) {
                return record(update.name(), update.taskId(), context, () -> graph.update(update, context));
            }

            @Override
            public Changes subscribe(KnowledgeOperation.Subscribe subscription, CallContext context) {
                return record(
                        subscription.name(),
                        subscription.taskId(),
                        context,
                        () -> graph.subscribe(subscription, context));
            }
        };
    }

    private <T, X extends Exception> T record(
            String operation, @Nullable String task, CallContext context, Work<T, X> work) throws X {
        String outcome = "";
        try {
            T result = work.answer();
            outcome = "ok";
            return result;
        } catch (Throwable refused) {
            outcome = A2AError.of(refused).name();
            throw refused;
        } finally {
            Map<String, String> detail = Map.of("operation", operation, "dialect", context.dialect());
            note("call.answered", requireNonNullElse(task, agent), outcome, context, detail);
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
        audit.note(new AuditTrail.Entry(
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
