package dev.parley.extension;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Agent;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Parts of a hub that its extensions share. Safe for any thread. */
public interface HubParts {
    /** True if the hub keeps its data; else {@link #database} is gone with the hub. */
    boolean isKept();

    /**
     * True if only users of this machine call the hub, so that they reach its other servers by themselves: it listens on loopback, without
     * authentication, public URL, allowed hosts or web origins of others. Decides which addresses callers may have the hub call.
     */
    boolean isLocal();

    /**
     * The database of the hub, of SQLite or PostgreSQL, for tables of the extension, which it makes by {@link Database#migrate}. Tables
     * are named after the extension.
     */
    Database database();

    /** The audit of the database: pages of rows by {@link AuditTrail#rows}, new rows by {@link AuditTrail#note}. */
    AuditTrail audit();

    /** Address of the hub for clients, without a slash at its end. To be called when the extension is open: by its handlers. */
    String url();

    /** The agents of the hub. Empty until the extension is open: to be used by its handlers. */
    HubAgents agents();

    /** Protocols below the addresses of all agents, by the names of their bindings. To be called when all extensions are open. */
    Map<String, AgentFace> faces();

    /**
     * A protocol below the address of each agent.
     *
     * @param agent the agent of the extension, of whose operations its requests are calls
     * @param path below the address of an agent, such as {@code /mcp}
     */
    record AgentFace(String agent, String path) {}

    /**
     * Replaces the card of an agent of the extension by that of another description of the same name. Its handler and limits stay as
     * they are. Does nothing before the agent is hosted.
     */
    void describe(Agent agent);

    /**
     * Identifies the caller of an API key, or of a token of the hub or of one of its issuers, that came in a message instead of a header;
     * empty if it is not good. May wait for an issuer.
     */
    Optional<CallContext> identify(String credential);

    /**
     * Answers a page of the hub about the session of its browser: {@code GET} shows it, {@code POST} with {@code {"key":…}} or {@code
     * {"token":…}} begins one, by a cookie, and {@code DELETE} ends it. A session stands for its credential in requests of pages of the hub.
     *
     * @param request with an empty path
     * @throws dev.parley.protocol.A2AException if the credential is not good, or a page of another origin asks
     */
    WireAnswer session(WireRequest request);

    /** Tasks of the agents, for views. */
    HubTasks tasks();

    /** Signatures by the card keys of the hub, and verification of signatures. */
    HubSignatures signatures();

    /**
     * Returns a secret key of the hub for a purpose, from which nothing about the keys for other purposes follows. It stays the same as long
     * as the hub keeps its data; hubs on one database have one only if they share the file of their secrets.
     *
     * @param purpose begins with the name of the extension
     */
    byte[] key(String purpose);

    /** Metrics of the extension. */
    ExtensionMetrics metrics();

    /** Timers of the extension. To be named in {@link HubExtensionSource#open}; handlers are called once all agents are hosted. */
    HubTimers timers();

    /**
     * A new HTTP client for URLs that callers choose. It connects only to public addresses and those that the setting {@code
     * webhook-allow} permits, which are checked as they are dialled, and follows no redirects.
     *
     * @param group of the caller, whose share of look-ups it uses
     */
    HttpClient http(String group);

    /** A new directory that is removed with the hub. */
    Path scratch();
}
