package dev.parley.dialect.legacy;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.OAuth2;
import java.util.Collection;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** Security schemes on cards that have a word for each of a few simple ones. */
public final class SimpleSchemes {
    static final String KEY_HEADER = "X-Api-Key";

    private SimpleSchemes() {}

    /** Whether a card lets in callers without any scheme. */
    public static boolean areOptional(AgentCard card) {
        return card.securityRequirements().stream()
                .anyMatch(one -> one.schemes().isEmpty());
    }

    public static ApiKey key(@Nullable String description) {
        return new ApiKey(description, "header", KEY_HEADER);
    }

    public static HttpAuth bearer(@Nullable String description) {
        return new HttpAuth(description, "Bearer", null);
    }

    public static OAuth2 clientCredentials(@Nullable String description, String tokenUrl, Collection<?> scopes) {
        var described = new LinkedHashMap<String, String>();
        scopes.forEach(scope -> described.put(String.valueOf(scope), ""));
        return new OAuth2(description, new Flow.ClientCredentials(tokenUrl, null, described), null);
    }
}
