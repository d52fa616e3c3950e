package dev.parley.registry;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a registry: an agent, or another resource with a document. It is read from its document, whose bytes are kept beside it
 * unchanged. All faces of a registry show this record.
 *
 * @param id URN, such as {@code urn:air:example.com:agents:translator}; the key of the entry
 * @param resource what the entry is about, as its document describes it
 * @param ownership owner and visibility of the entry
 * @param trust verdict on signatures of the document, and on its attestations
 * @param health result of the probes
 * @param state of the entry, with times
 * @param lookAlikes ids of entries whose names look like this one's, as its reader sees them; empty in the tables of a registry
 */
public record Entry(
        String id,
        Resource resource,
        Ownership ownership,
        Trust trust,
        Health health,
        State state,
        List<String> lookAlikes) {
    /** Media type of the card of an agent. */
    public static final String AGENT_CARD = "application/a2a-agent-card+json";

    /** Principal of the hub's own agents. No caller has this name. */
    public static final String HUB = "*";

    public Entry {
        requireNonNull(id, "id");
        requireNonNull(resource, "resource");
        requireNonNull(ownership, "ownership");
        requireNonNull(trust, "trust");
        requireNonNull(health, "health");
        requireNonNull(state, "state");
        lookAlikes = List.copyOf(lookAlikes);
    }

    /** An entry without look-alikes. */
    public Entry(String id, Resource resource, Ownership ownership, Trust trust, Health health, State state) {
        this(id, resource, ownership, trust, health, state, List.of());
    }

    /** The entry with another description. */
    public Entry with(Resource other) {
        return new Entry(id, other, ownership, trust, health, state);
    }

    /** The entry with another owner or visibility. */
    public Entry with(Ownership other) {
        return new Entry(id, resource, other, trust, health, state);
    }

    /** True for a copy of an entry of a peer, whose name is its principal. No caller can change it. */
    public boolean isCopy() {
        return ownership.group().equals(HUB);
    }

    /** The entry with another verdict. */
    public Entry with(Trust other) {
        return new Entry(id, resource, ownership, other, health, state);
    }

    /** The entry with another health. */
    public Entry with(Health other) {
        return new Entry(id, resource, ownership, trust, other, state);
    }

    /** The entry in another state. */
    public Entry with(State other) {
        return new Entry(id, resource, ownership, trust, health, other);
    }

    /** The entry with the ids of those whose names look like its own. */
    public Entry withLookAlikes(List<String> ids) {
        return new Entry(id, resource, ownership, trust, health, state, ids);
    }

    /** Returns whether callers may use the agent: its state is {@link Status#ACTIVE} or {@link Status#DEPRECATED}. */
    public boolean isUsable() {
        return state.status == Status.ACTIVE || state.status == Status.DEPRECATED;
    }

    /**
     * The resource of an entry: the members of its document that are searched and shown.
     *
     * @param type media type of the document, such as {@value Entry#AGENT_CARD}
     * @param humanId readable id of AgentVault, {@code organization/agent}; null if it has none
     * @param url address of the document; null if it was given as a file
     * @param digest {@code sha256:} and 64 lower-case hexadecimal digits, of the bytes of the document
     * @param endpoints addresses with their bindings and dialects
     * @param schemes kinds of credentials that the agent takes, such as {@code apiKey}
     * @param metadata further members, which filters find: texts, numbers, truth values
     */
    public record Resource(
            String type,
            String name,
            String description,
            String version,
            @Nullable String humanId,
            @Nullable String url,
            String digest,
            @Nullable String provider,
            List<Skill> skills,
            List<String> tags,
            List<String> capabilities,
            List<Endpoint> endpoints,
            List<String> schemes,
            Map<String, Object> metadata) {
        public Resource {
            requireNonNull(type, "type");
            requireNonNull(name, "name");
            skills = List.copyOf(skills);
            tags = List.copyOf(tags);
            capabilities = List.copyOf(capabilities);
            endpoints = List.copyOf(endpoints);
            schemes = List.copyOf(schemes);
            metadata = Map.copyOf(metadata);
        }
    }

    /** A skill of an agent. */
    public record Skill(String id, String name, String description, List<String> tags, List<String> examples) {
        public Skill {
            tags = List.copyOf(tags);
            examples = List.copyOf(examples);
        }
    }

    /**
     * An address of an agent.
     *
     * @param binding such as {@code JSONRPC}
     * @param dialect version of A2A, or name of another dialect
     */
    public record Endpoint(String url, String binding, String dialect) {}

    /**
     * Owner and visibility.
     *
     * @param principal who registered the entry; {@value Entry#HUB} for the hub's own agents
     */
    public record Ownership(String group, String principal, Visibility visibility) {}

    /** Readers of an entry: its owner, its group, or all. */
    public enum Visibility {
        PRIVATE,
        GROUP,
        PUBLIC
    }

    /** Verdict on the signatures of a document. */
    public enum Outcome {
        VERIFIED,
        /** A good signature by a signer who does not speak for the publisher. */
        INTEGRITY,
        UNSIGNED,
        UNVERIFIABLE,
        TAMPERED,
        REVOKED
    }

    /** Verdict on an attestation of a trusted execution environment. */
    public enum TeeOutcome {
        VERIFIED,
        UNVERIFIED,
        FAILED
    }

    /**
     * Trust in the document.
     *
     * @param reason of the verdict, or of the revocation
     * @param checked time of the first check with this verdict
     * @param tee kind of the trusted execution environment that the document declares; null if it declares none
     * @param teeOutcome null without a declaration
     */
    public record Trust(
            Outcome outcome,
            String reason,
            @Nullable Instant checked,
            @Nullable String tee,
            @Nullable TeeOutcome teeOutcome,
            @Nullable String teeReason) {
        /** The same attestations with another verdict on signatures. */
        public Trust with(Outcome verdict, String why, Instant time) {
            return new Trust(verdict, why, time, tee, teeOutcome, teeReason);
        }
    }

    /** Whether an agent can be called. */
    public enum HealthStatus {
        UNKNOWN,
        UP,
        DEGRADED,
        DOWN
    }

    /** The failure that determines a health. */
    public enum Cause {
        NONE,
        DNS,
        CONNECT,
        TLS,
        AUTHENTICATION,
        PROTOCOL,
        /** The agent serves another card than the registered one. */
        CARD_DRIFT,
        LATENCY,
        /** Failed runs of an agent of the hub itself. */
        ERRORS,
        /** A lease that was not renewed. */
        LEASE
    }

    /**
     * Health of the agent.
     *
     * @param since begin of this status
     * @param latencyMillis of the last answer; -1 if there was none
     */
    public record Health(
            HealthStatus status,
            Cause cause,
            String reason,
            @Nullable Instant since,
            long latencyMillis) {
        public static final Health UNKNOWN = new Health(HealthStatus.UNKNOWN, Cause.NONE, "", null, -1);
    }

    /** Phase of the life of an entry. */
    public enum Status {
        ACTIVE,
        DEPRECATED,
        EXPIRED,
        DELETED,
        REVOKED
    }

    /**
     * Life of the entry.
     *
     * @param revision number of its published documents
     * @param change number of its last change in the log of the registry
     * @param leaseUntil end of its lease, which a heartbeat renews; null for entries without a lease
     */
    public record State(
            Status status,
            int revision,
            long change,
            Instant created,
            Instant updated,
            @Nullable Instant leaseUntil) {
        /** The same state with another status. */
        public State with(Status other) {
            return new State(other, revision, change, created, updated, leaseUntil);
        }
    }
}
