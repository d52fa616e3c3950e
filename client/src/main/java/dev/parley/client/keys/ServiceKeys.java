package dev.parley.client.keys;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keys of one service in one source. */
record ServiceKeys(
        @Nullable String apiKey,
        @Nullable String clientId,
        @Nullable String clientSecret) {
    static final ServiceKeys NONE = new ServiceKeys(null, null, null);

    /** One of the three, by the name that it has in a file. */
    enum Part {
        API_KEY,
        CLIENT_ID,
        CLIENT_SECRET
    }

    ServiceKeys with(Part part, String value) {
        return switch (part) {
            case API_KEY -> new ServiceKeys(value, clientId, clientSecret);
            case CLIENT_ID -> new ServiceKeys(apiKey, value, clientSecret);
            case CLIENT_SECRET -> new ServiceKeys(apiKey, clientId, value);
        };
    }

    Optional<OAuthClient> client() {
        return clientId == null || clientSecret == null
                ? Optional.empty()
                : Optional.of(new OAuthClient(clientId, clientSecret));
    }

    boolean hasHalfAClient() {
        return (clientId == null) != (clientSecret == null);
    }

    @Override
    public String toString() {
        return "ServiceKeys[apiKey=" + (apiKey != null) + ", clientId=" + (clientId != null) + ", clientSecret="
                + (clientSecret != null) + "]";
    }
}
