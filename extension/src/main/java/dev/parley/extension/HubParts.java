package dev.parley.extension;

import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.nio.file.Path;

/** Parts of a hub that its extensions share. Safe for any thread. */
public interface HubParts {
    /** True if the hub keeps its data; else {@link #database} is gone with the hub. */
    boolean isKept();

    /**
     * The database of the hub, of SQLite or PostgreSQL, for tables of the extension, which it makes by {@link Database#migrate}. Tables
     * are named after the extension.
     */
    Database database();

    /** The audit of the database: pages of rows by {@link AuditTrail#rows}, new rows by {@link AuditTrail#note}. */
    AuditTrail audit();

    /** The agents of the hub. Empty until the extension is open: to be used by its handlers. */
    HubAgents agents();

    /** Tasks of the agents, for views. */
    HubTasks tasks();

    /** Signatures by the card keys of the hub, and verification of signatures. */
    HubSignatures signatures();

    /** Metrics of the extension. */
    ExtensionMetrics metrics();

    /** Timers of the extension. To be named in {@link HubExtensionSource#open}; handlers are called once all agents are hosted. */
    HubTimers timers();

    /** A new directory that is removed with the hub. */
    Path scratch();
}
