package dev.parley.store.shared;

/** Kinds of rows of which hubs have copies in memory. */
public enum Epoch {
    /** Groups, users and API keys. */
    DIRECTORY(0),
    /** Sign-ins and sessions of browsers that have ended. */
    SIGN_INS(1),
    /** Rules of publication, accounts, revocations and own agents of the registry. */
    REGISTRY(2),
    /** Spaces, shapes, rules and terms of knowledge graphs. */
    KNOWLEDGE(3),
    /** Routes, pauses and owners of the gateway. */
    GATEWAY(4),
    /** Approvals of the tools of MCP servers. */
    TOOLS(5),
    /** Stored workflows, and what hubs of the mesh remember of each other. */
    MESH(6),
    /** Tasks, and owners of tasks, that were erased. */
    ERASED_TASKS(7),
    /** The level of the forms that hubs write, which is the number itself. */
    LEVEL(8);

    private final int number;

    Epoch(int number) {
        this.number = number;
    }

    /** The number of the kind in the database: the next one, without a gap, for a new kind. */
    public int number() {
        return number;
    }
}
