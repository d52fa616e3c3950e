package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.Priority;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Message;
import dev.parley.protocol.extension.ExtensionView;
import dev.parley.protocol.extension.OwnMethod;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An agent to be hosted: its card, its handler, and its limits.
 *
 * <pre>{@code
 * Agent hello = Agent.named("hello", "Greets its caller")
 *         .skill("greet", "Says hello in the caller's words", "greeting")
 *         .handle((request, reply) -> reply.complete("Hello, " + request.text()));
 * }</pre>
 */
public final class Agent {
    private static final String JSON = "application/json";

    private final Builder settings;
    private final AgentHandler handler;
    private final boolean declaresOutputModes;

    private Agent(Builder settings, AgentHandler handler) {
        this.settings = settings;
        this.handler = handler;
        this.declaresOutputModes = settings.outputModesDeclared
                || settings.skills.stream()
                        .anyMatch(skill -> !skill.outputModes().isEmpty());
    }

    /**
     * Begins an agent.
     *
     * @param name segment of its address: letters, digits, {@code -}, {@code _} and {@code .}, at most 100
     * @param description for its card
     */
    public static Builder named(String name, String description) {
        return new Builder(name, description);
    }

    public String name() {
        return settings.name;
    }

    public AgentHandler handler() {
        return handler;
    }

    /** True if a task that a crash interrupted is to be taken up again, by another call of the handler. */
    public boolean isResumable() {
        return settings.resumable;
    }

    /** Error by which messages are refused now; empty if they are not. */
    public Optional<A2AException> refusal() {
        return settings.refusal.get();
    }

    /** True if a message that comes again under its id leads to the task that it led to before. */
    public boolean deduplicates() {
        return settings.deduplicate;
    }

    /** False if lists of agents leave it out: that of the hub, its registry, its tools of MCP. */
    public boolean isListed() {
        return settings.listed;
    }

    /** URIs of the extensions of its hub that it uses, and lets its callers use. */
    public Set<String> uses() {
        return Collections.unmodifiableSet(settings.uses);
    }

    /** Returns this agent with an extension of {@link Builder#uses}. */
    public Agent using(ExtensionView<?> extension) {
        return settings.copy().uses(extension).handle(handler);
    }

    /**
     * This agent as {@link Builder#priority} describes it.
     *
     * @param priority null for messages that have the priority that the agent gives them
     */
    public Agent prioritized(Function<Message, @Nullable Priority> priority) {
        Function<Message, Priority> own = settings.priority;
        return settings.copy()
                .priority(message -> {
                    Priority given = priority.apply(message);
                    return given != null ? given : own == null ? Priority.MEDIUM : own.apply(message);
                })
                .handle(handler);
    }

    /** The priority of a message's task while it waits; null if all have the same. */
    @Nullable
    Function<Message, Priority> priority() {
        return settings.priority;
    }

    /** Returns this agent with {@code handler} instead of its own, which also reads JSON. */
    public Agent readingJson(AgentHandler handler) {
        return settings.copy().reading(true).handle(handler);
    }

    /** Returns this agent with more extensions; URIs that are paths of a hub are below {@code url}. */
    public Agent offering(Collection<AgentExtension> more, String url) {
        Builder offering = settings.copy();
        offering.methods.keySet().removeAll(methodsOf(offering.extensions));
        var all = new ArrayList<>(offering.extensions);
        all.addAll(more);
        offering.extensions.clear();
        all.forEach(extension -> offering.extension(extension.at(url)));
        return offering.handle(handler);
    }

    private static Set<String> methodsOf(List<AgentExtension> extensions) {
        return extensions.stream()
                .flatMap(extension -> extension.methods().keySet().stream())
                .collect(Collectors.toSet());
    }

    /** True if callers may stream. */
    public boolean streams() {
        return settings.streaming;
    }

    /** Its extensions, in the order of its card. */
    public List<AgentExtension> extensions() {
        return List.copyOf(settings.extensions);
    }

    /** Time limit of one call of the handler. */
    public Duration timeLimit() {
        return settings.timeLimit;
    }

    /**
     * Limit of concurrent calls of the handler; further tasks wait in state submitted. If it is eight or more, one group of
     * callers gets at most 7/8.
     */
    public int concurrency() {
        return settings.concurrency;
    }

    /**
     * Limit of tasks that wait for their turn; further sends are refused as unavailable. If it is eight or more, one group
     * of callers gets at most 7/8.
     */
    public int queueLimit() {
        return settings.queueLimit;
    }

    /** Skills that only the extended card has. */
    public List<Skill> extendedSkills() {
        return List.copyOf(settings.extendedSkills);
    }

    /** JSON-RPC methods of its own, by name. */
    public Map<String, OwnMethod> methods() {
        return Map.copyOf(settings.methods);
    }

    /** Returns whether the agent, and not a default, says which media types it writes. */
    boolean declaresOutputModes() {
        return declaresOutputModes;
    }

    /** The card of this agent, as reached at {@code interfaces}. */
    public AgentCard card(List<AgentCard.Interface> interfaces) {
        Builder s = settings;
        return new AgentCard(
                s.name,
                s.description,
                interfaces,
                s.provider,
                s.version,
                s.documentationUrl,
                new AgentCard.Capabilities(s.streaming, s.pushNotifications, cards(s.extensions), s.extendedCard),
                Map.of(),
                List.of(),
                s.inputModes,
                s.outputModes,
                s.skills,
                List.of(),
                null);
    }

    private static List<Extension> cards(List<AgentExtension> extensions) {
        return extensions.stream().map(AgentExtension::card).toList();
    }

    /** Call of a {@link dev.parley.engine.Skill} method, for {@link Builder#skills(Class, SkillCall)}. */
    @FunctionalInterface
    public interface SkillCall {
        /**
         * Returns the result of the method; null if it has none. Called by the threads of runs, several at once.
         *
         * @param method of the class that declares the skills
         * @param arguments as the method takes them
         * @throws InvocationTargetException with the exception that the method has thrown
         * @throws Exception any other one, which fails the task as well
         */
        @Nullable
        Object call(Method method, @Nullable Object[] arguments) throws Exception;
    }

    /** Collects what an agent is; holds the only copy of each default. */
    public static final class Builder {
        private final String name;
        private final String description;
        private final List<Skill> skills = new ArrayList<>();
        private final List<Skill> extendedSkills = new ArrayList<>();
        private final List<AgentExtension> extensions = new ArrayList<>();
        private final Map<String, OwnMethod> methods = new LinkedHashMap<>();
        private String version = "1.0.0";
        private @Nullable Provider provider;
        private @Nullable String documentationUrl;
        private List<String> inputModes = List.of("text/plain");
        private List<String> outputModes = List.of("text/plain");
        private boolean outputModesDeclared;
        private boolean streaming = true;
        private boolean pushNotifications = true;
        private boolean extendedCard;
        private boolean resumable;
        private boolean deduplicate = true;
        private boolean listed = true;
        private Duration timeLimit = Duration.ofHours(1);
        private int concurrency = 1_000;
        private int queueLimit = 10_000;
        private @Nullable Function<Message, Priority> priority;
        private Supplier<Optional<A2AException>> refusal = Optional::empty;
        private final Set<String> uses = new LinkedHashSet<>();

        private Builder(String name, String description) {
            if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")) {
                throw new IllegalArgumentException("name: " + name
                        + " (expected: at most 100 letters, digits, '-', '_', '.', beginning with a letter or digit)");
            }
            this.name = name;
            this.description = requireNonNull(description, "description");
        }

        /** Version of the agent; default {@code 1.0.0}. */
        public Builder version(String version) {
            this.version = requireNonNull(version, "version");
            return this;
        }

        /** Provider of the agent; default: none. */
        public Builder provider(String organization, String url) {
            this.provider = new Provider(organization, url);
            return this;
        }

        /** Address of the documentation of the agent; default: none. */
        public Builder documentationUrl(String url) {
            this.documentationUrl = requireNonNull(url, "url");
            return this;
        }

        /** Adds a skill; its name is its id. */
        public Builder skill(String id, String description, String... tags) {
            return skill(new Skill(id, id, description, List.of(tags), List.of(), List.of(), List.of(), List.of()));
        }

        /** Adds a skill. */
        public Builder skill(Skill skill) {
            skills.add(skill);
            return this;
        }

        /** Adds a skill to the extended card only, which authenticated callers see. */
        public Builder extendedSkill(Skill skill) {
            extendedSkills.add(skill);
            return extendedCard(true);
        }

        /** Adds an extension to the card. A required one is enforced: calls that do not activate it are refused. */
        public Builder extension(Extension extension) {
            return extension(AgentExtension.of(extension));
        }

        /**
         * Adds an extension with what belongs to it. Calls that activate it without those that it needs are refused.
         *
         * @throws IllegalArgumentException if a method of it is there already
         */
        public Builder extension(AgentExtension extension) {
            extension.methods().forEach(this::method);
            extensions.add(extension);
            return this;
        }

        /**
         * Adds a JSON-RPC method of the agent's own, which is served at the address of its operations. A server refuses
         * names of the protocol.
         */
        public Builder method(String name, OwnMethod method) {
            if (methods.putIfAbsent(name, requireNonNull(method, "method")) != null) {
                throw new IllegalArgumentException("method \"" + name + "\": duplicate name");
            }
            return this;
        }

        /** Media types that the agent reads; default {@code text/plain}. */
        public Builder inputModes(String... mediaTypes) {
            this.inputModes = List.of(mediaTypes);
            return this;
        }

        /**
         * Media types that the agent writes. Messages with a sender that accepts none of them, nor any of a skill's, are then
         * refused with
         * CONTENT_TYPE_NOT_SUPPORTED. Default: {@code text/plain} on the card, and nothing is refused.
         */
        public Builder outputModes(String... mediaTypes) {
            this.outputModes = List.of(mediaTypes);
            this.outputModesDeclared = mediaTypes.length > 0;
            return this;
        }

        /** Allows callers to stream; default true. */
        public Builder streaming(boolean streaming) {
            this.streaming = streaming;
            return this;
        }

        /** Allows callers to register webhooks; default true. */
        public Builder pushNotifications(boolean pushNotifications) {
            this.pushNotifications = pushNotifications;
            return this;
        }

        /** Announces an extended card in the card; default false. */
        public Builder extendedCard(boolean extendedCard) {
            this.extendedCard = extendedCard;
            return this;
        }

        /** Passes tasks that a crash interrupted to the handler again; default false: they fail. */
        public Builder resumable(boolean resumable) {
            this.resumable = resumable;
            return this;
        }

        /** Refuses messages while {@code refusal} returns an error, such as that a server behind the agent is out of reach. */
        public Builder refusing(Supplier<Optional<A2AException>> refusal) {
            this.refusal = requireNonNull(refusal, "refusal");
            return this;
        }

        /**
         * Returns the existing task for a message that the same caller repeats under the same id within 24 hours, instead
         * of processing it again; default true.
         */
        public Builder deduplicate(boolean deduplicate) {
            this.deduplicate = deduplicate;
            return this;
        }

        /** Leaves the agent out of lists, for one that serves a hub and not its callers; default true. It has its address and its card. */
        public Builder listed(boolean listed) {
            this.listed = listed;
            return this;
        }

        /** Time limit of one call of the handler, which is then interrupted and its task fails; default 1 hour. */
        public Builder timeLimit(Duration timeLimit) {
            if (timeLimit.isNegative() || timeLimit.isZero()) {
                throw new IllegalArgumentException("timeLimit: " + timeLimit + " (expected: > 0)");
            }
            this.timeLimit = timeLimit;
            return this;
        }

        /** Limit of concurrent calls of the handler; default 1,000. */
        public Builder concurrency(int calls) {
            if (calls < 1) {
                throw new IllegalArgumentException("concurrency: " + calls + " (expected: >= 1)");
            }
            this.concurrency = calls;
            return this;
        }

        /**
         * The priority with which a message waits for its turn, also after a restart. The function must be quick and depend on the
         * message only. Callers write messages, so priorities that need a right have to be refused before this function is called.
         * An agent with four or more slots keeps one for {@link Priority#CRITICAL}. Default: all messages have the same priority.
         */
        public Builder priority(Function<Message, Priority> priority) {
            this.priority = requireNonNull(priority, "priority");
            return this;
        }

        /** Limit of tasks that wait for their turn; default 10,000. */
        public Builder queueLimit(int tasks) {
            if (tasks < 0) {
                throw new IllegalArgumentException("queueLimit: " + tasks + " (expected: >= 0)");
            }
            this.queueLimit = tasks;
            return this;
        }

        /**
         * Declares that the agent uses an extension of its hub by {@link Request#extension}, and lets its callers use it; default:
         * none.
         */
        public Builder uses(ExtensionView<?> extension) {
            uses.add(extension.uri());
            return this;
        }

        /**
         * Ends the description: the agent calls the methods declared by the class of {@code object} that are annotated with
         * {@link
         * dev.parley.engine.Skill}, which are added to the skills of the card. A message names its skill by the member
         * {@code skillId} of its metadata; it need not if there is only one.
         *
         * @throws IllegalArgumentException if there is no such method, or one with parameters or a result of other types
         */
        public Agent skills(Object object) {
            return skills(object.getClass(), (method, arguments) -> method.invoke(object, arguments));
        }

        /**
         * The same with the methods that {@code type} declares, called by {@code call}: for objects that are not of that class themselves,
         * such as proxies.
         *
         * @throws IllegalArgumentException as {@link #skills(Object)}
         */
        public Agent skills(Class<?> type, SkillCall call) {
            var methods = new SkillMethods(type, call);
            Builder described = copy();
            described.skills.addAll(methods.cards());
            return described.reading(methods.readsData()).handle(methods);
        }

        private Builder reading(boolean json) {
            if (json && !inputModes.contains(JSON)) {
                inputModes = new ArrayList<>(inputModes);
                inputModes.add(JSON);
            }
            return this;
        }

        /** Ends the description: the agent does {@code handler}. */
        public Agent handle(AgentHandler handler) {
            return new Agent(copy(), requireNonNull(handler, "handler"));
        }

        private Builder copy() {
            var copy = new Builder(name, description);
            copy.skills.addAll(skills);
            copy.extendedSkills.addAll(extendedSkills);
            copy.extensions.addAll(extensions);
            copy.methods.putAll(methods);
            copy.version = version;
            copy.provider = provider;
            copy.documentationUrl = documentationUrl;
            copy.inputModes = inputModes;
            copy.outputModes = outputModes;
            copy.outputModesDeclared = outputModesDeclared;
            copy.streaming = streaming;
            copy.pushNotifications = pushNotifications;
            copy.extendedCard = extendedCard;
            copy.resumable = resumable;
            copy.deduplicate = deduplicate;
            copy.listed = listed;
            copy.timeLimit = timeLimit;
            copy.concurrency = concurrency;
            copy.queueLimit = queueLimit;
            copy.priority = priority;
            copy.refusal = refusal;
            copy.uses.addAll(uses);
            return copy;
        }
    }
}
