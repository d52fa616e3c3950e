package dev.parley.dialect.legacy;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.OAuth2;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Security schemes on cards that have a word for each of a few simple ones. */
public final class SimpleSchemes {
    static final String KEY_HEADER = "X-Api-Key";

    private SimpleSchemes() {}

    /** Whether a card lets in callers without any scheme. */
    public static boolean areOptional(AgentCard card) {
        return card.securityRequirements().isEmpty()
                || card.securityRequirements().stream()
                        .anyMatch(one -> one.schemes().isEmpty());
    }

    /** Whether a card lets in callers with this scheme and no other. */
    public static boolean isEnough(AgentCard card, String name) {
        return card.securityRequirements().stream()
                .anyMatch(one -> one.schemes().keySet().equals(Set.of(name)));
    }

    /** The address of OAuth2's token endpoint; null without one, and for other schemes. */
    public static @Nullable String tokenUrl(@Nullable SecurityScheme scheme) {
        return flow(scheme).map(Flow.ClientCredentials::tokenUrl).orElse(null);
    }

    /** The scopes of OAuth2; none for other schemes. */
    public static List<String> scopes(@Nullable SecurityScheme scheme) {
        return flow(scheme).map(flow -> List.copyOf(flow.scopes().keySet())).orElse(List.of());
    }

    private static Optional<Flow.ClientCredentials> flow(@Nullable SecurityScheme scheme) {
        return scheme instanceof OAuth2 oauth && oauth.flow() instanceof Flow.ClientCredentials flow
                ? Optional.of(flow)
                : Optional.empty();
    }

    /**
     * Returns the word for a scheme, {@code none} for null; null if it has none. There is none for passwords, which as a bearer token would let no
     * client in.
     */
    public static @Nullable String word(@Nullable SecurityScheme scheme) {
        return switch (scheme) {
            case null -> "none";
            case ApiKey key -> "apiKey";
            case HttpAuth http when http.scheme().equalsIgnoreCase("bearer") -> "bearer";
            default -> tokenUrl(scheme) == null ? null : "oauth2";
        };
    }

    /**
     * Returns the scheme of a word; null for {@code none}.
     *
     * @throws InvalidField if it is not such a word, or OAuth2 without an address
     */
    public static @Nullable SecurityScheme of(
            String word, @Nullable String description, @Nullable String tokenUrl, Collection<?> scopes) {
        return switch (word) {
            case "apiKey" -> new ApiKey(description, "header", KEY_HEADER);
            case "bearer" -> new HttpAuth(description, "Bearer", null);
            case "oauth2" -> {
                if (tokenUrl == null) {
                    throw InvalidField.of("tokenUrl", "missing (expected: the address of the token endpoint)");
                }
                var described = new LinkedHashMap<String, String>();
                scopes.forEach(scope -> described.put(String.valueOf(scope), ""));
                yield new OAuth2(description, new Flow.ClientCredentials(tokenUrl, null, described), null);
            }
            case "none" -> null;
            default -> throw InvalidField.of("scheme", '"' + word + "\" (expected: apiKey, bearer, oauth2 or none)");
        };
    }
}
