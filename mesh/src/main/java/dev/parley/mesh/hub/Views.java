package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubParts;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MeshViews.AgentFacts;
import dev.parley.mesh.MeshViews.Connection;
import dev.parley.mesh.MeshViews.Connections;
import dev.parley.mesh.MeshViews.Entities;
import dev.parley.mesh.MeshViews.Entity;
import dev.parley.mesh.MeshViews.EntityType;
import dev.parley.mesh.MeshViews.EventFilter;
import dev.parley.mesh.MeshViews.EventPage;
import dev.parley.mesh.MeshViews.EventView;
import dev.parley.mesh.MeshViews.ListConnections;
import dev.parley.mesh.MeshViews.ListEntities;
import dev.parley.mesh.MeshViews.ListEvents;
import dev.parley.mesh.MeshViews.OntologyType;
import dev.parley.mesh.MeshViews.RankAgents;
import dev.parley.mesh.MeshViews.RankedAgent;
import dev.parley.mesh.MeshViews.Ranking;
import dev.parley.mesh.MeshViews.Reasons;
import dev.parley.mesh.MeshViews.Wanted;
import dev.parley.mesh.MeshViews.WatchEvents;
import dev.parley.mesh.hub.Events.Event;
import dev.parley.mesh.hub.Events.Page;
import dev.parley.mesh.hub.GroupSummary.Known;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.ChangeCount;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.GroupListener;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Views of the mesh of the caller's group. Agents that are hidden from the caller are in none of them. Safe for any thread. */
final class Views implements AgentEndpoint {
    /** Time in which a view is computed, with the wait for those of others. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int ROWS_AT_ONCE = 1_000;
    private static final int MOST_GROUPS = 1_000;
    private static final Pattern COST = Pattern.compile("cost:(\\d{1,9}(?:\\.\\d{1,9})?)");

    /** Time after which a page of events ends, be it empty: its number leads to the next one. */
    private static final Duration LONGEST_PAGE = Duration.ofSeconds(1);

    private final HubParts hub;
    private final Events events;
    private final Durations durations;
    private final Epochs epochs;
    private final Map<String, GroupSummary> standings = new LruMap<>(MOST_GROUPS);

    private final ChangeCount commits = new ChangeCount();
    private final Set<Live> streams = ConcurrentHashMap.newKeySet();
    /** The newest events at the last look for those of other hubs. Of the thread that looks. */
    private EventPlace seen = EventPlace.BEGINNING;

    private volatile boolean closed;

    Views(HubParts hub, Events events, Durations durations) {
        this.hub = hub;
        this.events = events;
        this.durations = durations;
        this.epochs = hub.database().access().epochs();
        epochs.keep(Epoch.MESH, this::forgetAll);
        hub.database().access().feeds().follow("one/events", this::lookForOthers);
        hub.database().listen(new GroupListener() {
            @Override
            public void committed(int works) {
                commits.add();
            }
        });
    }

    /**
     * Drops sums over the events of a group, which are read again at the next use. Returns when all hubs that share the database have
     * dropped theirs, or answer nothing.
     */
    void forget(String group) {
        synchronized (standings) {
            standings.remove(group);
        }
        if (epochs.isShared()) {
            long change = hub.database().write(session -> epochs.bump(session, Epoch.MESH));
            epochs.applied(Epoch.MESH, change);
            epochs.barrier(Epoch.MESH, change);
        }
    }

    /** Wakes the streams if another hub has added events. Once a second. */
    private void lookForOthers() {
        if (!streams.isEmpty()) {
            EventPlace newest = events.newest();
            if (!newest.equals(seen)) {
                seen = newest;
                commits.add();
            }
        }
    }

    private void forgetAll() {
        synchronized (standings) {
            standings.clear();
        }
    }

    /** Ends all streams. */
    void close() {
        closed = true;
        commits.add();
    }

    @Override
    @SuppressWarnings("unchecked") // by the operation
    public <R> R call(Operation.Call<R> operation, CallContext caller) {
        return (R) scan(caller, () -> switch (operation) {
            case ListEntities list -> entities(list, caller);
            case RankAgents rank -> ranked(rank.wanted(), caller);
            case ListConnections list -> connections(list, caller);
            case ListEvents list -> events(list, caller);
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
        String after = watch.after();
        EventPlace place = after == null ? events.newest() : place(after);
        return (Feed<E>) new Live(watch.filter(), caller, place);
    }

    // ---- Agents

    private Map<String, AgentCard> agents(Wanted wanted, CallContext caller) {
        String capability = wanted.capability();
        String tag = wanted.tag();
        String words = wanted.words();
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

    private Entities entities(ListEntities list, CallContext caller) {
        String agent = list.agentId();
        if (list.type() == EntityType.TASK) {
            Set<String> visible = hub.agents().cards(caller).keySet();
            GroupSummary standing = standing(caller);
            return new Entities(standing.tasks(agent, visible, size(list.pageSize())), standing.isPartial());
        }
        var entities = new ArrayList<Entity>();
        agents(list.wanted(), caller).forEach((name, card) -> {
            if (agent == null || agent.equals(name)) {
                entities.add(entity(name, card, caller));
            }
        });
        return new Entities(entities, false);
    }

    private static Entity entity(String name, AgentCard card, CallContext caller) {
        var facts = new AgentFacts(
                card.name(),
                card.description(),
                endpoint(card),
                card.skills().stream().map(Skill::id).toList(),
                List.copyOf(tags(card)));
        return new Entity(
                name,
                caller.scope().group(),
                EntityType.AGENT,
                OntologyType.EXTERNAL_AGENT,
                facts,
                null,
                Map.of("protocol", "a2a", "version", card.version()));
    }

    private static String endpoint(AgentCard card) {
        String url = card.supportedInterfaces().isEmpty()
                ? ""
                : card.supportedInterfaces().getFirst().url();
        return url.isEmpty() || url.endsWith(MeshProtocol.SUFFIX) ? url : url + MeshProtocol.SUFFIX;
    }

    /** Agents by score, the best first. Each part of a score is from 0 to 1. */
    private Ranking ranked(Wanted wanted, CallContext caller) {
        String words = wanted.words();
        String capability = wanted.capability();
        Map<String, AgentCard> agents = agents(wanted, caller);
        GroupSummary standing = standing(caller);
        Map<String, Known> measured = standing.of(agents.keySet());
        var ranked = new ArrayList<RankedAgent>();
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
            var reasons = new Reasons(
                    rounded(match),
                    rounded(known.trust()),
                    rounded(known.successRate()),
                    known.tasks(),
                    rounded(speed),
                    latency == null ? null : latency.toMillis(),
                    rounded(idleness),
                    known.open(),
                    rounded(cheapness),
                    cost);
            ranked.add(new RankedAgent(
                    name,
                    endpoint(card),
                    card.skills().stream().map(Skill::id).toList(),
                    List.copyOf(tags(card)),
                    rounded(score),
                    reasons));
        });
        ranked.sort(Comparator.comparingDouble(RankedAgent::score).reversed());
        return new Ranking(ranked, standing.isPartial());
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

    private GroupSummary standing(CallContext caller) {
        GroupSummary standing;
        synchronized (standings) {
            standing = standings.computeIfAbsent(caller.scope().group(), group -> new GroupSummary(events, group));
        }
        standing.advance();
        return standing;
    }

    private Connections connections(ListConnections list, CallContext caller) {
        Set<String> visible = hub.agents().cards(caller).keySet();
        GroupSummary standing = standing(caller);
        List<Connection> rows = standing.connections(list.types(), list.agentId(), size(list.pageSize())).stream()
                .filter(each -> visible.contains(each.toEntityId()) || visible.contains(each.fromEntityId()))
                .toList();
        return new Connections(rows, standing.isPartial());
    }

    private static int size(long pageSize) {
        return Math.max(1, (int) pageSize);
    }

    private static EventPlace place(String after) {
        try {
            return EventPlace.read(after);
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams(
                    "after", '"' + after + "\" (expected: the number of an event, or the next of a page)");
        }
    }

    /** The text of a place, if hubs write events at once, or have done so; null otherwise: a number is enough then. */
    private @Nullable String cursor(EventPlace place) {
        return epochs.isShared() || !place.isNumber() ? place.toString() : null;
    }

    private EventPage events(ListEvents list, CallContext caller) {
        EventPlace last = place(list.after());
        Set<String> visible = hub.agents().cards(caller).keySet();
        int size = size(list.pageSize());
        var found = new ArrayList<EventView>();
        boolean isLast = false;
        long end = System.nanoTime() + LONGEST_PAGE.toNanos();
        while (!isLast && found.size() < size && System.nanoTime() - end < 0) {
            Page page = events.next(caller.scope().group(), last, ROWS_AT_ONCE);
            isLast = page.isLast();
            last = page.first();
            for (Event event : page.events()) {
                if (found.size() == size) {
                    isLast = false;
                    break;
                }
                if (visible.contains(event.agent()) && fits(list.filter(), event)) {
                    found.add(event.view(null));
                    last = last.after(event.number());
                }
            }
            if (found.size() < size) {
                last = page.last();
            }
        }
        return new EventPage(found, last.toString(), !isLast);
    }

    private static boolean fits(EventFilter filter, Event event) {
        String type = filter.type();
        String agent = filter.agentId();
        Instant since = filter.since();
        return (type == null
                        || type.equals(event.type().word())
                        || type.equals(event.metadata("ontologyType"))
                        || type.equals(event.metadata("alias"))
                        || type.equals(event.metadata("messageType")))
                && (agent == null
                        || agent.equals(event.agent())
                        || agent.equals(event.actor())
                        || agent.equals(event.other()))
                && is(filter.correlationId(), event.metadata("correlationId"))
                && is(filter.taskId(), event.metadata("taskId"))
                && (since == null || !event.at().isBefore(since));
    }

    private static boolean is(@Nullable String wanted, @Nullable String value) {
        return wanted == null || wanted.equals(value);
    }

    /** Events as they come. */
    private final class Live implements Feed<EventView> {
        private final EventFilter filter;
        private final CallContext caller;
        private EventPlace last;
        private volatile boolean left;

        Live(EventFilter filter, CallContext caller, EventPlace last) {
            this.filter = filter;
            this.caller = caller;
            this.last = last;
            streams.add(this);
        }

        @Override
        public @Nullable List<EventView> next(Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            while (true) {
                long before = commits.count();
                if (left || closed) {
                    return null;
                }
                List<EventView> next = some();
                long rest = end - System.nanoTime();
                if (!next.isEmpty() || rest <= 0) {
                    return next;
                }
                commits.await(before, rest);
            }
        }

        private List<EventView> some() {
            Set<String> visible = hub.agents().cards(caller).keySet();
            Page page = scan(caller, () -> events.next(caller.scope().group(), last, ROWS_AT_ONCE));
            var views = new ArrayList<EventView>();
            EventPlace place = page.first();
            for (Event event : page.events()) {
                if (visible.contains(event.agent()) && fits(filter, event)) {
                    place = place.after(event.number());
                    views.add(event.view(cursor(place)));
                }
            }
            last = page.last();
            return views;
        }

        @Override
        public void close() {
            left = true;
            streams.remove(this);
            commits.add();
        }
    }
}
