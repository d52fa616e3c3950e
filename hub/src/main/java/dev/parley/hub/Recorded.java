package dev.parley.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.OwnMethod;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.store.AuditTrail;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes audit rows for calls of one agent: always for webhooks that are registered and deleted, and for every call if the hub is
 * set so. What happens to tasks and in knowledge graphs leaves rows of its own, in the transaction of the change. Safe for any
 * thread.
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
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                R result = record(
                        operation.name(), operation.aboutTask(), context, () -> endpoint.call(operation, context));
                switch (operation) {
                    case Operation.CreatePushConfig create -> created((PushConfig) result, null, context);
                    case Operation.DeletePushConfig delete ->
                        note("webhook.deleted", delete.taskId(), "ok", context, webhook(delete.id()));
                    case Operation.SendMessage send -> {
                        PushConfig config = send.configuration().pushConfig();
                        if (config != null && result instanceof Task task) {
                            created(config, task.id(), context);
                        }
                    }
                    default -> {
                        // registers no webhook
                    }
                }
                return result;
            }

            @Override
            public EventStream watch(Operation.Watch operation, CallContext context) {
                EventStream events = record(
                        operation.name(), operation.aboutTask(), context, () -> endpoint.watch(operation, context));
                PushConfig config = operation instanceof Operation.SendStreamingMessage send
                        ? send.configuration().pushConfig()
                        : null;
                return config == null ? events : new Events(events, config, context);
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
        if (!all) {
            return work.answer();
        }
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

    private void created(PushConfig config, @Nullable String task, CallContext context) {
        var detail = new TreeMap<>(webhook(config.id()));
        detail.put("host", String.valueOf(URI.create(config.url()).getHost()));
        note("webhook.created", requireNonNullElse(task, String.valueOf(config.taskId())), "ok", context, detail);
    }

    /** Callers choose the ids of webhooks, so the audit, from which nothing is removed, has a hash. */
    private static Map<String, String> webhook(@Nullable String id) {
        return id == null ? Map.of() : Map.of("webhook", AuditTrail.hashed(id));
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

    /** Events of a send with a webhook, whose task is known from the first of them. */
    private final class Events implements EventStream {
        private final EventStream events;
        private final PushConfig config;
        private final CallContext context;
        private boolean noted;

        Events(EventStream events, PushConfig config, CallContext context) {
            this.events = events;
            this.config = config;
            this.context = context;
        }

        @Override
        public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
            List<LoggedEvent> next = events.next(patience);
            if (!noted && next != null && !next.isEmpty()) {
                noted = true;
                TaskEvent first = next.getFirst().event();
                if (first instanceof Task task) {
                    created(config, task.id(), context);
                }
            }
            return next;
        }

        @Override
        public void close() {
            events.close();
        }
    }
}
