package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A way to authenticate, as declared on a card.
 *
 * <p>Source: A2A specification 1.0, section 4.5.
 */
public sealed interface SecurityScheme {
    /** For people. */
    @Nullable
    String description();

    /** A fixed key; {@code location} is {@code query}, {@code header} or {@code cookie}. */
    record ApiKey(@Nullable String description, String location, String name) implements SecurityScheme {
        public ApiKey {
            requireNonNull(location, "location");
            requireNonNull(name, "name");
        }
    }

    /** An HTTP authentication scheme such as {@code Bearer}. */
    record HttpAuth(
            @Nullable String description,
            String scheme,
            @Nullable String bearerFormat) implements SecurityScheme {
        public HttpAuth {
            requireNonNull(scheme, "scheme");
        }
    }

    /** OAuth 2 with exactly one flow. */
    record OAuth2(
            @Nullable String description,
            Flow flow,
            @Nullable String oauth2MetadataUrl) implements SecurityScheme {
        public OAuth2 {
            requireNonNull(flow, "flows");
        }
    }

    /** OpenID Connect by its discovery document. */
    record OpenIdConnect(@Nullable String description, String openIdConnectUrl) implements SecurityScheme {
        public OpenIdConnect {
            requireNonNull(openIdConnectUrl, "openIdConnectUrl");
        }
    }

    /** Client certificates. */
    record MutualTls(@Nullable String description) implements SecurityScheme {}

    /** Way to obtain an OAuth 2 token; {@code scopes} maps each scope to its description. */
    sealed interface Flow {
        Map<String, String> scopes();

        record AuthorizationCode(
                String authorizationUrl,
                String tokenUrl,
                @Nullable String refreshUrl,
                Map<String, String> scopes,
                boolean pkceRequired)
                implements Flow {
            public AuthorizationCode {
                requireNonNull(authorizationUrl, "authorizationUrl");
                requireNonNull(tokenUrl, "tokenUrl");
                scopes = Lists.copy(scopes);
            }
        }

        record ClientCredentials(String tokenUrl, @Nullable String refreshUrl, Map<String, String> scopes)
                implements Flow {
            public ClientCredentials {
                requireNonNull(tokenUrl, "tokenUrl");
                scopes = Lists.copy(scopes);
            }
        }

        record DeviceCode(
                String deviceAuthorizationUrl,
                String tokenUrl,
                @Nullable String refreshUrl,
                Map<String, String> scopes) implements Flow {
            public DeviceCode {
                requireNonNull(deviceAuthorizationUrl, "deviceAuthorizationUrl");
                requireNonNull(tokenUrl, "tokenUrl");
                scopes = Lists.copy(scopes);
            }
        }

        /** Deprecated by the specification; read from foreign cards. */
        record Implicit(
                @Nullable String authorizationUrl, @Nullable String refreshUrl, Map<String, String> scopes)
                implements Flow {
            public Implicit {
                scopes = Lists.copy(scopes);
            }
        }

        /** Deprecated by the specification; read from foreign cards. */
        record Password(@Nullable String tokenUrl, @Nullable String refreshUrl, Map<String, String> scopes)
                implements Flow {
            public Password {
                scopes = Lists.copy(scopes);
            }
        }
    }
}
