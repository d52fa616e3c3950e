package dev.parley.mcp.client;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.util.Optional;

/** Credentials for one server. Safe for any thread. */
public interface McpCredentials {
    /** For servers that want none, or get them by fixed headers. */
    McpCredentials NONE = new McpCredentials() {
        @Override
        public Optional<String> authorization() {
            return Optional.empty();
        }

        @Override
        public boolean renew(int status, HttpHeaders headers, Optional<String> refused) {
            return false;
        }
    };

    /** Value of the header Authorization; empty for none. */
    Optional<String> authorization() throws IOException, InterruptedException;

    /**
     * Gets other credentials after an answer with status 401 or 403.
     *
     * @param refused the value that the server refused
     * @return whether the request may be repeated
     * @throws ServerFailure UNAUTHORIZED with the reason, if there are none
     */
    boolean renew(int status, HttpHeaders headers, Optional<String> refused) throws IOException, InterruptedException;
}
