package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubParts;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MeshViews;
import dev.parley.mesh.MeshViews.WatchEvents;
import dev.parley.mesh.hub.Events.Event;
import dev.parley.mesh.hub.Events.Page;
import dev.parley.mesh.hub.Standing.Known;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.GroupListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Views of the mesh of the caller's group. Agents that are hidden from the caller are in none of them. Safe for any thread. */
final class Views implements AgentEndpoint {
    /** Time in which a view is computed, with the wait for those of others. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int ROWS_AT_ONCE = 1_000;
    private static final int DEFAULT_PAGE = 100;
    private static final int MOST_GROUPS = 1_000;
    private static final Pattern COST = Pattern.compile("cost:(\\d{1,9}(?:\\.\\d{1,9})?)");

    /** Time after which a page of events ends, be it empty: its number leads to the next one. */
    private static final Duration LONGEST_PAGE = Duration.ofSeconds(1);

    private final HubParts hub;
    private final Events events;
    private final Durations durations;
    private final Map<String, Standing> standings = new LruMap<>(MOST_GROUPS);

    /** Notified after each commit. */
    private final Object commits = new Object();

    private boolean closed;
    private long committed;

    Views(HubParts hub, Events events, Durations durations) {
        this.hub = hub;
        this.events = events;
        this.durations = durations;
        hub.database().listen(new GroupListener() {
            @Override
            public void committed(int works) {
                wake();
            }
        });
    }

    private void wake() {
        synchronized (commits) {
            committed++;
            commits.notifyAll();
        }
    }

    /** Drops sums over the events of a group, which are read again at the next use. */
    void forget(String group) {
        synchronized (standings) {
            standings.remove(group);
        }
    }

    /** Ends all streams. */
    void close() {
        synchronized (commits) {
            closed = true;
            commits.notifyAll();
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the views answer objects
    public <R> R call(Operation.Call<R> operation, CallContext caller) {
        Map<String, @Nullable Object> given = ((MethodCall) operation).params();
        return (R) scan(caller, () -> switch (operation.name()) {
            case MeshViews.ENTITIES -> entities(given, caller);
            case MeshViews.AGENTS -> ranked(given, caller);
            case MeshViews.CONNECTIONS -> connections(given, caller);
            case MeshViews.EVENTS -> events(given, caller);
            default -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        });
    }

    private <T> T scan(CallContext caller, Supplier<T> view) {
        return hub.database().scan(caller.scope().group(), PATIENCE, view);
    }

    @Override
    @SuppressWarnings("unchecked") // the one stream
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
        WatchEvents watch = (WatchEvents) operation;
        long after = watch.after() < 0 ? events.newest() : watch.after();
        return (Feed<E>) new Live(watch.filter(), caller, after);
    }

    // ---- Agents

    private Map<String, AgentCard> agents(Map<String, @Nullable Object> given, CallContext caller) {
        String capability = text(given, "capability");
        String tag = text(given, "tag");
        String words = text(given, "q");
        var found = new LinkedHashMap<String, AgentCard>();
        hub.agents().cards(caller).forEach((name, card) -> {
            boolean fits =
                    (capability == null || Delegations.skill(card, capability).isPresent())
                            && (tag == null || tags(card).stream().anyMatch(tag::equalsIgnoreCase))
                            && (words == null || match(words, name, card) > 0);
            if (fits) {
                found.put(name, card);
            }
        });
        return found;
    }

    private static Set<String> tags(AgentCard card) {
        var tags = new TreeSet<String>();
        card.skills().forEach(skill -> tags.addAll(skill.tags()));
        return tags;
    }

    private Map<String, Object> entities(Map<String, @Nullable Object> given, CallContext caller) {
        String type = text(given, "type");
        if (type != null && !type.equals("agent") && !type.equals("task")) {
            throw A2AException.invalidParams("type", '"' + type + "\": unknown (expected: agent, task)");
        }
        if ("task".equals(type)) {
            Set<String> visible = hub.agents().cards(caller).keySet();
            Standing standing = standing(caller);
            return answer("entities", standing.tasks(text(given, "agentId"), visible, size(given)), standing);
        }
        String agent = text(given, "agentId");
        return Map.of(
                "entities",
                agentEntities(given, caller).stream()
                        .filter(each -> agent == null || agent.equals(each.get("entityId")))
                        .toList());
    }

    private List<Map<String, Object>> agentEntities(Map<String, @Nullable Object> given, CallContext caller) {
        var entities = new ArrayList<Map<String, Object>>();
        agents(given, caller).forEach((name, card) -> {
            var entity = new LinkedHashMap<String, Object>();
            entity.put("entityId", name);
            entity.put("groupId", caller.scope().group());
            entity.put("type", "agent");
            entity.put("ontologyType", "external_agent");
            entity.put("name", card.name());
            entity.put("description", card.description());
            entity.put("endpoint", endpoint(card));
            entity.put("capabilities", card.skills().stream().map(Skill::id).toList());
            entity.put("tags", List.copyOf(tags(card)));
            entity.put("metadata", Map.of("protocol", "a2a", "version", card.version()));
            entities.add(entity);
        });
        return entities;
    }

    private static String endpoint(AgentCard card) {
        String url = card.supportedInterfaces().isEmpty()
                ? ""
                : card.supportedInterfaces().getFirst().url();
        return url.isEmpty() || url.endsWith(MeshProtocol.SUFFIX) ? url : url + MeshProtocol.SUFFIX;
    }

    /** Agents by score, the best first. Each part of a score is from 0 to 1. */
    private Map<String, Object> ranked(Map<String, @Nullable Object> given, CallContext caller) {
        String words = text(given, "q");
        String capability = text(given, "capability");
        Map<String, AgentCard> agents = agents(given, caller);
        Standing standing = standing(caller);
        Map<String, Known> measured = standing.of(agents.keySet());
        var ranked = new ArrayList<Map<String, Object>>();
        agents.forEach((name, card) -> {
            Known known = requireNonNull(measured.get(name));
            Duration latency = latency(name, card, capability);
            double match = words == null ? 1 : match(words, name, card);
            double speed = latency == null ? 0.5 : 1 / (1 + latency.toMillis() / 10_000.0);
            double idleness = 1 / (1.0 + known.open());
            Double cost = cost(card);
            double cheapness = cost == null ? 0.5 : 1 / (1 + cost);
            double score = 0.4 * match
                    + 0.2 * known.trust()
                    + 0.15 * known.successRate()
                    + 0.1 * speed
                    + 0.1 * idleness
                    + 0.05 * cheapness;
            var reasons = new LinkedHashMap<String, Object>();
            reasons.put("match", rounded(match));
            reasons.put("trust", rounded(known.trust()));
            reasons.put("successRate", rounded(known.successRate()));
            reasons.put("tasks", known.tasks());
            reasons.put("speed", rounded(speed));
            if (latency != null) {
                reasons.put("latencyMillis", latency.toMillis());
            }
            reasons.put("idleness", rounded(idleness));
            reasons.put("openTasks", known.open());
            reasons.put("cheapness", rounded(cheapness));
            if (cost != null) {
                reasons.put("cost", cost);
            }
            var agent = new LinkedHashMap<String, Object>();
            agent.put("agentId", name);
            agent.put("endpoint", endpoint(card));
            agent.put("capabilities", card.skills().stream().map(Skill::id).toList());
            agent.put("tags", List.copyOf(tags(card)));
            agent.put("score", rounded(score));
            agent.put("reasons", reasons);
            ranked.add(agent);
        });
        ranked.sort(
                Comparator.comparingDouble((Map<String, Object> agent) -> (double) requireNonNull(agent.get("score")))
                        .reversed());
        return answer("agents", ranked, standing);
    }

    private @Nullable Duration latency(String agent, AgentCard card, @Nullable String capability) {
        return (capability == null ? card.skills().stream() : Delegations.skill(card, capability).stream())
                .flatMap(skill -> durations.median(agent, skill.id()).stream())
                .min(Comparator.naturalOrder())
                .or(() -> durations.median(agent, ""))
                .orElse(null);
    }

    /** The lowest cost that a tag of a skill names, such as {@code cost:0.02}; null for none. */
    private static @Nullable Double cost(AgentCard card) {
        return tags(card).stream()
                .map(COST::matcher)
                .filter(Matcher::matches)
                .map(tag -> Double.valueOf(tag.group(1)))
                .min(Comparator.naturalOrder())
                .orElse(null);
    }

    private static double rounded(double number) {
        return Math.round(number * 1_000) / 1_000.0;
    }

    /** Share of the words that are in the name, the description or the skills of an agent. */
    private static double match(String words, String name, AgentCard card) {
        var text = new StringBuilder(name)
                .append(' ')
                .append(card.name())
                .append(' ')
                .append(card.description());
        for (Skill skill : card.skills()) {
            text.append(' ').append(skill.id()).append(' ').append(skill.name()).append(' ');
            text.append(skill.description()).append(' ').append(String.join(" ", skill.tags()));
        }
        Set<String> known = words(text.toString());
        Set<String> wanted = words(words);
        long found = wanted.stream()
                .filter(word -> known.stream().anyMatch(other -> other.startsWith(word) || isForm(word, other)))
                .count();
        return wanted.isEmpty() ? 0 : (double) found / wanted.size();
    }

    /** True for two forms of one word, such as {@code research} and {@code researches}. */
    private static boolean isForm(String word, String other) {
        return other.length() >= 4 && word.startsWith(other);
    }

    private static Set<String> words(String text) {
        var words = new TreeSet<>(List.of(text.toLowerCase(Locale.ROOT).split("[^\\p{L}\\p{N}]+")));
        words.remove("");
        return words;
    }

    // ---- Connections and events

    private Standing standing(CallContext caller) {
        synchronized (standings) {
            return standings.computeIfAbsent(caller.scope().group(), group -> new Standing(events, group));
        }
    }

    private Map<String, Object> connections(Map<String, @Nullable Object> given, CallContext caller) {
        Set<String> visible = hub.agents().cards(caller).keySet();
        Standing standing = standing(caller);
        List<Map<String, Object>> rows =
                standing.connections(text(given, "type"), text(given, "agentId"), size(given)).stream()
                        .filter(each ->
                                visible.contains(each.get("toEntityId")) || visible.contains(each.get("fromEntityId")))
                        .toList();
        return answer("connections", rows, standing);
    }

    /** @param standing says whether it is behind the events: then the answer says so, and a later one has more */
    private static Map<String, Object> answer(String name, List<Map<String, Object>> rows, Standing standing) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put(name, rows);
        if (standing.isPartial()) {
            answer.put("partial", true);
        }
        return answer;
    }

    private static int size(Map<String, @Nullable Object> given) {
        return given.get("pageSize") instanceof Number size ? Math.max(1, size.intValue()) : DEFAULT_PAGE;
    }

    private Map<String, Object> events(Map<String, @Nullable Object> given, CallContext caller) {
        long last = given.get("after") instanceof Number after ? after.longValue() : 0;
        Set<String> visible = hub.agents().cards(caller).keySet();
        int size = size(given);
        var found = new ArrayList<Map<String, Object>>();
        boolean isLast = false;
        long end = System.nanoTime() + LONGEST_PAGE.toNanos();
        while (!isLast && found.size() < size && System.nanoTime() - end < 0) {
            Page page = events.next(caller.scope().group(), last, ROWS_AT_ONCE);
            isLast = page.isLast();
            last = page.last();
            for (Event event : page.events()) {
                if (found.size() == size) {
                    isLast = false;
                    break;
                }
                if (visible.contains(event.agent()) && fits(given, event)) {
                    found.add(event.json());
                    last = event.number();
                }
            }
            if (found.size() < size) {
                last = page.last();
            }
        }
        var answer = new LinkedHashMap<String, Object>();
        answer.put("events", found);
        answer.put("next", last);
        answer.put("more", !isLast);
        return answer;
    }

    private static boolean fits(Map<String, @Nullable Object> given, Event event) {
        String type = text(given, "type");
        String agent = text(given, "agentId");
        Instant since = RestParameter.time(given.get("since"));
        return (type == null
                        || type.equals(event.type())
                        || type.equals(event.metadata("ontologyType"))
                        || type.equals(event.metadata("alias"))
                        || type.equals(event.metadata("messageType")))
                && (agent == null
                        || agent.equals(event.agent())
                        || agent.equals(event.actor())
                        || agent.equals(event.other()))
                && is(given, "correlationId", event)
                && is(given, "taskId", event)
                && (since == null || !event.at().isBefore(since));
    }

    private static boolean is(Map<String, @Nullable Object> given, String name, Event event) {
        String value = text(given, name);
        return value == null || value.equals(event.metadata(name));
    }

    private static @Nullable String text(Map<String, @Nullable Object> given, String name) {
        return given.get(name) instanceof String text && !text.isBlank() ? text : null;
    }

    /** Events as they come. */
    private final class Live implements Feed<Map<String, Object>> {
        private final Map<String, @Nullable Object> filter;
        private final CallContext caller;
        private long last;
        private boolean left;

        Live(Map<String, @Nullable Object> filter, CallContext caller, long last) {
            this.filter = filter;
            this.caller = caller;
            this.last = last;
        }

        @Override
        public @Nullable List<Map<String, Object>> next(Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            while (true) {
                long before;
                synchronized (commits) {
                    if (left || closed) {
                        return null;
                    }
                    before = committed;
                }
                List<Map<String, Object>> next = some();
                long rest = (end - System.nanoTime()) / 1_000_000;
                if (!next.isEmpty() || rest <= 0) {
                    return next;
                }
                synchronized (commits) {
                    if (!left && !closed && committed == before) {
                        commits.wait(rest);
                    }
                }
            }
        }

        private List<Map<String, Object>> some() {
            Set<String> visible = hub.agents().cards(caller).keySet();
            Page page = scan(caller, () -> events.next(caller.scope().group(), last, ROWS_AT_ONCE));
            last = page.last();
            return page.events().stream()
                    .filter(event -> visible.contains(event.agent()) && fits(filter, event))
                    .map(Event::json)
                    .toList();
        }

        @Override
        public void close() {
            synchronized (commits) {
                left = true;
                commits.notifyAll();
            }
        }
    }
}
