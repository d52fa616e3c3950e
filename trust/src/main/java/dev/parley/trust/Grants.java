package dev.parley.trust;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import dev.parley.trust.tokens.SignIns;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Grants of the tokens that the hub makes, as they stand at present. Safe for any thread.
 *
 * @param signIns null if users do not sign in
 * @param hub the address of the hub
 */
record Grants(
        Accounts accounts, AccessTokens tokens, @Nullable SignIns signIns, Supplier<String> hub) {
    private static final String OF_AGENTS = "/agents/";

    /** A token that the hub made speaks for its client as long as that is known, and only for scopes that it still has. */
    @Nullable
    Principal holder(Grant grant) {
        AccessTokens.Session session = grant.session();
        Principal now = session == null ? accounts.callers().ofClient(grant.clientId()) : user(grant.caller(), session);
        if (now == null || !now.name().equals(grant.caller()) || !now.scopes().containsAll(grant.scopes())) {
            return null;
        }
        return new Principal(now.group(), now.name(), grant.scopes());
    }

    /** The user of a sign-in as its API key has it now; null if it has ended. */
    private @Nullable Principal user(String name, AccessTokens.Session session) {
        if (signIns == null || signIns.isRevoked(session.id())) {
            return null;
        }
        Principal now = session.key().isEmpty() ? accounts.callers().named(name) : accounts.byKeyId(session.key());
        return now != null && now.group().equals(session.group()) ? now : null;
    }

    /**
     * Whether a call is at the address for which a token is. One for an agent is good at its address only; others, such as that of
     * {@code /mcp}, lead to all agents, as that of the hub. Source: RFC 8707, section 2.
     */
    boolean isFor(Grant grant, RequestHead arrival) {
        AccessTokens.Session session = grant.session();
        String below =
                session == null ? "" : session.resource().substring(hub.get().length());
        return !below.startsWith(OF_AGENTS)
                || arrival.path().equals(below)
                || arrival.path().startsWith(below + "/");
    }
}
