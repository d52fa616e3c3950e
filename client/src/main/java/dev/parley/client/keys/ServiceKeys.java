package dev.parley.client.keys;

import dev.parley.outbound.http.HeaderText;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Keys of one service in one source. */
record ServiceKeys(
        @Nullable String apiKey,
        @Nullable String clientId,
        @Nullable String clientSecret) {
    static final ServiceKeys NONE = new ServiceKeys(null, null, null);
    static final String EXPECTED_SERVICE = "1 to 256 printable ASCII characters without spaces, quotes, = and \\";

    private static final Pattern SERVICE = Pattern.compile("[!-~&&[^\"'`=\\\\]]{1,256}");

    /** Returns one of the three keys by its name in files. */
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

    static boolean isService(String text) {
        return SERVICE.matcher(text).matches();
    }

    /** @throws IllegalArgumentException if it is not an id of a service */
    static String service(String id) {
        if (!isService(id)) {
            throw new IllegalArgumentException("service id: " + id + " (expected: " + EXPECTED_SERVICE + ")");
        }
        return id.toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException if {@code secret} cannot be sent; it is not in the message */
    static void requireSecret(String what, String secret) {
        if (secret.isBlank() || !HeaderText.isValue(secret)) {
            throw new IllegalArgumentException(what + ": " + secret.length() + " characters (expected: at least one, at"
                    + " most " + HeaderText.MAX_LENGTH + ", all printable ASCII)");
        }
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
