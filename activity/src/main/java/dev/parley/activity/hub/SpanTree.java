package dev.parley.activity.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.activity.ActivityOperation.ReadTrace;
import dev.parley.activity.ActivityOperation.Span;
import dev.parley.activity.ActivityOperation.SpanEvent;
import dev.parley.activity.ActivityOperation.Trace;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.extension.HubParts;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.spi.AuditNumbers;
import java.net.URLDecoder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Traces from the log of tasks: the tasks that began in one, and those that they began. A task of a step is a child of the run, whose events
 * name it; another one is a child of the newest task of the last agent of its chain. Safe for any thread.
 */
final class SpanTree {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Pattern TRACE = Pattern.compile("[0-9a-f]{32}");
    private static final int MOST_SPANS = 1_000;
    private static final int MOST_EVENTS = 200;
    private static final int MOST_EVENTS_IN_ALL = 20_000;
    private static final int MOST_BYTES = 1 << 18;
    private static final int TEXT = 160;

    /** Time before the begin of a trace in which rows of the audit may be of it. */
    private static final Duration AROUND = Duration.ofMinutes(1);

    /** Rows of the audit around the tasks of a trace that are looked at. */
    private static final int MOST_ROWS = 2_000;

    /** Order in which a parent comes before its children, whatever tasks say of each other. */
    private static final Comparator<Span> OLDEST_FIRST =
            Comparator.comparing(Span::started).thenComparing(Span::id);

    private final HubParts hub;
    private final @Nullable String link;

    /** @param link address of a page of a tracing backend with {@code {trace}} for the id; null for none */
    SpanTree(HubParts hub, @Nullable String link) {
        this.hub = hub;
        this.link = link;
    }

    Trace read(ReadTrace read, CallContext caller) {
        Sight sight = Sight.of(hub.agents(), caller, read.reach());
        return hub.database().scan(sight.payer(), PATIENCE, () -> new Reading(sight).read(read.trace()));
    }

    /** A span of a task, and what decides where it belongs. */
    private record Found(Span span, @Nullable String callingAgent) {}

    private final class Reading {
        private final Sight sight;
        private final Map<String, Found> spans = new LinkedHashMap<>();
        /** Ids of tasks of steps, and those of their runs. */
        private final Map<String, String> parents = new HashMap<>();

        private int eventsLeft = MOST_EVENTS_IN_ALL;
        private boolean hasMore;

        Reading(Sight sight) {
            this.sight = sight;
        }

        Trace read(String id) {
            String trace = id.toLowerCase(Locale.ROOT);
            if (!TRACE.matcher(trace).matches()) {
                Head root = seen(id).orElseThrow(() -> A2AException.taskNotFound(id));
                trace = hub.tasks()
                        .cause(root.key())
                        .map(Cause::traceparent)
                        .map(text -> text.substring("00-".length(), "00-".length() + 32))
                        .orElse(null);
                add(root);
            }
            if (trace != null) {
                List<Head> begun = hub.tasks().inTrace(sight.group(), trace, MOST_SPANS + 1);
                hasMore = begun.size() > MOST_SPANS;
                begun.stream().filter(this::sees).forEach(this::add);
            }
            if (spans.isEmpty()) {
                throw A2AException.taskNotFound(id);
            }
            addSteps();
            List<Span> tree = tree();
            if (trace != null && sight.administers()) {
                tree.addAll(rows(trace, tree));
            }
            tree.sort(Comparator.comparing(Span::started));
            return new Trace(
                    trace, tree, hasMore, trace == null || link == null ? null : link.replace("{trace}", trace));
        }

        /** A task of the caller's group, or of the group that an operator named; of all groups, only those in the trace are found. */
        private Optional<Head> seen(String taskId) {
            String group = sight.group() == null ? sight.payer() : sight.group();
            return hub.tasks().find(group, taskId).filter(this::sees);
        }

        private boolean sees(Head head) {
            return sight.sees(head.key().scope(), head.key().agent());
        }

        /** Adds the tasks of steps that began in no trace, or in another one. */
        private void addSteps() {
            var looked = new HashSet<String>();
            while (looked.size() < parents.size()) {
                for (String child : List.copyOf(parents.keySet())) {
                    if (looked.add(child) && !hasMore && !spans.containsKey(child)) {
                        seen(child).ifPresent(this::add);
                    }
                }
            }
        }

        private void add(Head head) {
            String id = head.key().taskId();
            if (spans.containsKey(id)) {
                return;
            }
            if (spans.size() == MOST_SPANS) {
                hasMore = true;
                return;
            }
            Optional<Cause> cause = hub.tasks().cause(head.key());
            List<String> chain = cause.map(each -> each.chain().agents()).orElse(List.of());
            var events = new Events();
            events.read(head);
            boolean isOver = head.state().isTerminal();
            Instant made = Ids.madeAt(id);
            Instant started = made == null ? events.first(head.statusTime()) : made;
            Instant ended = head.statusTime().isBefore(started) ? started : head.statusTime();
            boolean hasFailed = head.state() == TaskState.FAILED || head.state() == TaskState.REJECTED;
            var span = new Span(
                    id,
                    null,
                    Span.Kind.TASK,
                    head.key().agent(),
                    cause.map(Cause::caller).orElse(""),
                    events.name,
                    started,
                    isOver ? ended : null,
                    "TASK_STATE_" + head.state().name(),
                    hasFailed ? events.lastText : null,
                    events.shown);
            spans.put(id, new Found(span, callingAgent(chain, head.key().agent())));
        }

        /** The last agent of a chain before the called one, with which chains end. */
        private @Nullable String callingAgent(List<String> chain, String called) {
            int last = chain.size() - 1;
            if (last >= 0 && agentOf(chain.get(last)).equals(called)) {
                last--;
            }
            return last < 0 ? null : agentOf(chain.get(last));
        }

        /** Name of an agent of a chain, which has addresses. */
        private String agentOf(String agent) {
            String own = hub.url() + "/agents/";
            return agent.startsWith(own) ? URLDecoder.decode(agent.substring(own.length()), UTF_8) : agent;
        }

        private List<Span> tree() {
            var tree = new ArrayList<Span>();
            for (Found each : spans.values()) {
                String parent = parents.get(each.span().id());
                Found run = parent == null ? null : spans.get(parent);
                boolean isStep = run != null && OLDEST_FIRST.compare(run.span(), each.span()) < 0;
                tree.add(each.span().within(isStep ? parent : caller(each)));
            }
            return tree;
        }

        /** The newest task of the calling agent that was running when a task began. */
        private @Nullable String caller(Found child) {
            String agent = child.callingAgent();
            if (agent == null) {
                return null;
            }
            Instant began = child.span().started();
            return spans.values().stream()
                    .map(Found::span)
                    .filter(each -> each.agent().equals(agent) && OLDEST_FIRST.compare(each, child.span()) < 0)
                    .filter(each -> each.ended() == null || !each.ended().isBefore(began))
                    .max(Comparator.comparing(Span::started))
                    .map(Span::id)
                    .orElse(null);
        }

        /** Rows of the audit log with the trace that are not changes of tasks, near those of its tasks. */
        private List<Span> rows(String trace, List<Span> tree) {
            if (!hub.isKept()) {
                return List.of();
            }
            Instant begin = tree.stream()
                    .map(Span::started)
                    .min(Comparator.naturalOrder())
                    .orElse(Instant.EPOCH);
            List<AuditRow> own = hub.audit()
                    .rows(new Filter(sight.group(), null, null, tree.getFirst().id(), null, null), 0, 1);
            if (own.isEmpty()) {
                return List.of();
            }
            long number = own.getFirst().number();
            Instant since = begin.minus(AROUND);
            // Of hubs that work at the same time each has its own rows, which numbers do not order.
            AuditPosition after = AuditNumbers.chain(number) == 0
                    ? AuditPosition.of(Math.max(0, number - MOST_ROWS / 4))
                    : hub.audit().at(since);
            var filter = new Filter(sight.group(), null, null, null, null, since);
            return hub.audit().since(filter, after, MOST_ROWS).rows().stream()
                    .filter(row -> row.entry().trace().startsWith(trace, "00-".length()))
                    .filter(row -> !row.entry().action().startsWith("task."))
                    .map(SpanTree::span)
                    .toList();
        }

        /** Events of a task as they are shown. */
        private final class Events {
            private final List<SpanEvent> shown = new ArrayList<>();
            private String name = "";
            private @Nullable String lastText;
            private String task = "";

            Instant first(Instant otherwise) {
                return shown.isEmpty() ? otherwise : shown.getFirst().at();
            }

            void read(Head head) {
                task = head.key().taskId();
                int most = Math.clamp(eventsLeft, 1, MOST_EVENTS); // the first event has the name
                NavigableMap<Long, Instant> times = hub.tasks().times(head.key(), 1, most);
                try {
                    Instant at = Optional.ofNullable(Ids.madeAt(task)).orElse(head.statusTime());
                    for (LoggedEvent each : hub.tasks().read(head.key(), 0, most, MOST_BYTES)) {
                        at = add(each, times, at);
                    }
                    long last = head.lastSequence();
                    if (last > most) {
                        hub.tasks().read(head.key(), last - 1, 1).forEach(each -> add(each, times, head.statusTime()));
                    }
                    eventsLeft -= shown.size();
                } catch (DamagedTaskException damaged) {
                    name = name.isEmpty() ? "(events that cannot be read)" : name;
                }
            }

            private Instant add(LoggedEvent logged, NavigableMap<Long, Instant> times, Instant before) {
                Map.Entry<Long, Instant> written = times.floorEntry(logged.sequence());
                Instant at = written == null || written.getValue().isBefore(before) ? before : written.getValue();
                switch (logged.event()) {
                    case Task begun -> {
                        if (!begun.history().isEmpty()) {
                            String text = VisibleText.of(begun.history().getFirst(), TEXT);
                            name = text == null ? "" : text;
                        }
                        at = status(begun.status(), begun.metadata(), written == null, at);
                        for (var artifact : begun.artifacts()) {
                            shown.add(new SpanEvent(
                                    at, SpanEvent.Kind.ARTIFACT, null, name(artifact.name(), artifact.artifactId())));
                        }
                    }
                    case TaskStatusUpdateEvent update ->
                        at = status(update.status(), update.metadata(), written == null, at);
                    case TaskArtifactUpdateEvent update ->
                        shown.add(new SpanEvent(
                                at,
                                SpanEvent.Kind.ARTIFACT,
                                null,
                                name(update.artifact().name(), update.artifact().artifactId())));
                    case Message message ->
                        shown.add(new SpanEvent(at, SpanEvent.Kind.MESSAGE, null, VisibleText.of(message, TEXT)));
                }
                return at;
            }

            private Instant status(
                    TaskStatus status, Map<String, @Nullable Object> metadata, boolean isLate, Instant before) {
                Instant own = status.timestamp();
                Instant at = isLate && own != null && own.isAfter(before) ? own : before;
                Message message = status.message();
                String text = message == null ? null : VisibleText.of(message, TEXT);
                lastText = text == null ? lastText : text;
                shown.add(new SpanEvent(at, SpanEvent.Kind.STATUS, status.state(), text));
                // A run notes its steps as members of the metadata: {"state": …, "taskId": …}.
                metadata.forEach((member, value) -> {
                    boolean isStep = value instanceof Map<?, ?> step
                            && step.get("taskId") instanceof String child
                            && !child.equals(task);
                    if (isStep && parents.size() < MOST_SPANS) {
                        parents.putIfAbsent(String.valueOf(((Map<?, ?>) value).get("taskId")), task);
                    }
                });
                return at;
            }
        }
    }

    private static @Nullable String name(@Nullable String name, String id) {
        return VisibleText.of(name == null || name.isBlank() ? id : name, TEXT);
    }

    private static Span span(AuditRow row) {
        AuditEntry entry = row.entry();
        return new Span(
                "audit-" + row.number(),
                null,
                Span.Kind.AUDIT,
                entry.target(),
                entry.actor(),
                entry.action(),
                row.at(),
                row.at(),
                entry.outcome(),
                null,
                List.of());
    }
}
