package dev.parley.trust;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Callers of the configuration and members of the directory, by the credentials that do not expire by themselves. Safe for any thread.
 *
 * @param directory null in a hub without users
 */
record Accounts(Callers callers, @Nullable Directory directory) {
    @Nullable
    Principal byApiKey(String key) {
        Principal configured = callers.byApiKey(key);
        return configured != null || directory == null ? configured : directory.byKey(key);
    }

    /** The owner of a bearer token of the configuration, or of a key of the directory: these may come as bearer tokens too. */
    @Nullable
    Principal byToken(String token) {
        Principal configured = callers.byToken(token);
        return configured != null || directory == null || !token.startsWith(Directory.KEY_PREFIX)
                ? configured
                : directory.byKey(token);
    }

    /** The owner of the key of the directory with an id. */
    @Nullable
    Principal byKeyId(String id) {
        return directory == null ? null : directory.byId(id);
    }

    /** @param credentials name and password, encoded; the password is an API key of the user */
    @Nullable
    Principal byPassword(String credentials) {
        try {
            String pair = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
            int colon = pair.indexOf(':');
            Principal owner = colon < 0 ? null : byApiKey(pair.substring(colon + 1));
            return owner != null && owner.name().equals(pair.substring(0, colon)) ? owner : null;
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** False if the group is archived or the member disabled. */
    boolean isWelcome(String group, String name) {
        return directory == null || directory.isWelcome(group, name);
    }
}
