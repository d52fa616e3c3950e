package dev.parley.registry.vault;

import java.util.List;
import java.util.Optional;

/**
 * A route of the API.
 *
 * @param path with one variable part at most, {@code {}}; {@code {*}} may have slashes
 */
record VaultRoute(String name, String method, String path, String summary) {
    /** Begin of the names of operations. */
    static final String PREFIX = "agentvault/";

    private static final String KEYS = "/developers/me/apikeys";
    private static final String CARDS = "/api/v1/agent-cards";

    /** The routes; of those that match a path the first one answers. */
    static final List<VaultRoute> ALL = List.of(
            of("register", "POST", "/auth/register", "Register an account"),
            of("login", "POST", "/auth/login", "Log in by mail address and password"),
            of("verify", "GET", "/auth/verify-email", "Verify a mail address"),
            of("recover", "POST", "/auth/recover-account", "Recover an account by a recovery key"),
            of("set-password", "POST", "/auth/set-new-password", "Set a password after recovery"),
            of("me", "GET", "/developers/me", "Show the account"),
            of("keys-create", "POST", KEYS, "Create a key"),
            of("keys-list", "GET", KEYS, "List active keys"),
            of("keys-revoke", "DELETE", KEYS + "/{}", "Revoke a key"),
            of("cards-create", "POST", CARDS, "Register a card"),
            of("cards-list", "GET", CARDS, "List and search cards"),
            of("cards-by-query", "GET", CARDS + "/by-hri", "Find a card by its readable id"),
            of("cards-by-id", "GET", CARDS + "/id/{*}", "Find a card by its readable id"),
            of("cards-get", "GET", CARDS + "/{}", "Show a card"),
            of("cards-update", "PUT", CARDS + "/{}", "Change a card"),
            of("cards-delete", "DELETE", CARDS + "/{}", "Deactivate a card"),
            of("validate", "POST", "/api/v1/utils/validate-card", "Validate a card"),
            of("build", "POST", "/agent-builder/generate", "Generate the project of an agent"),
            of("openapi", "GET", "/api/v1/openapi.json", "Description of this API"));

    /** Paths of the hub, below which the routes are. */
    static final List<String> ROOTS = List.of("/api/v1", "/auth", "/developers", "/agent-builder");

    private static VaultRoute of(String name, String method, String path, String summary) {
        return new VaultRoute(PREFIX + name, method, path, summary);
    }

    /** The variable part of a path; empty text for a route without one, nothing if the path is another one. */
    Optional<String> match(String path) {
        int variable = this.path.indexOf("/{");
        if (variable < 0) {
            return path.equals(this.path) ? Optional.of("") : Optional.empty();
        }
        String prefix = this.path.substring(0, variable + 1);
        String rest = path.startsWith(prefix) ? path.substring(prefix.length()) : "";
        boolean isOne = !rest.isEmpty() && (this.path.endsWith("{*}") || rest.indexOf('/') < 0);
        return isOne ? Optional.of(rest) : Optional.empty();
    }
}
