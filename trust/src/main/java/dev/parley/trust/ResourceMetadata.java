package dev.parley.trust;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.trust.oauth.ConsentPage;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.Proofs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Metadata for clients that need a token: the issuers, and the ways to send one.
 *
 * <p>Source: RFC 9728, sections 2 and 3; RFC 8414, section 2.
 */
public record ResourceMetadata(
        String hub, boolean hasClients, boolean hasUsers, List<String> issuers, Collection<String> scopes) {
    /** Path of the metadata about protected resources, below the address of the hub. */
    public static final String PATH = "/.well-known/oauth-protected-resource";

    /** Path of the metadata of the token endpoint. */
    public static final String SERVER_PATH = "/.well-known/oauth-authorization-server";

    /** Path at which users allow clients to call as them. */
    public static final String AUTHORIZE_PATH = "/oauth/" + ConsentPage.ACTION;

    /** Path at which clients register themselves. */
    public static final String REGISTER_PATH = "/oauth/register";

    /** Path of the token endpoint. */
    public static final String TOKEN_PATH = "/oauth/token";

    /** @param request below one of the two paths; after the first, the path of an agent may come */
    public WireAnswer answer(WireRequest request) {
        request.requireGet();
        return request.path().startsWith(SERVER_PATH)
                ? json(server())
                : json(resource(request.path().substring(PATH.length())));
    }

    private Map<String, Object> resource(String agent) {
        var servers = new ArrayList<String>();
        if (hasClients || hasUsers) {
            servers.add(hub);
        }
        servers.addAll(issuers);
        var members = new LinkedHashMap<String, Object>();
        members.put("resource", hub + agent);
        members.put("authorization_servers", servers);
        if (!scopes.isEmpty()) {
            members.put("scopes_supported", List.copyOf(scopes));
        }
        members.put("bearer_methods_supported", List.of("header"));
        members.put("dpop_signing_alg_values_supported", Proofs.ALGORITHMS);
        return members;
    }

    private Map<String, Object> server() {
        if (!hasClients && !hasUsers) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        var members = new LinkedHashMap<String, Object>();
        members.put("issuer", hub);
        members.put("token_endpoint", hub + TOKEN_PATH);
        var grants = new ArrayList<String>();
        if (hasUsers) {
            members.put("authorization_endpoint", hub + AUTHORIZE_PATH);
            members.put("registration_endpoint", hub + REGISTER_PATH);
            members.put("code_challenge_methods_supported", List.of("S256"));
            members.put("authorization_response_iss_parameter_supported", true);
            grants.addAll(List.of("authorization_code", "refresh_token"));
        }
        if (hasClients) {
            grants.add("client_credentials");
        }
        members.put("grant_types_supported", grants);
        members.put(
                "token_endpoint_auth_methods_supported",
                hasUsers ? Clients.METHODS : List.of("client_secret_basic", "client_secret_post"));
        members.put("response_types_supported", hasUsers ? List.of("code") : List.of());
        if (!scopes.isEmpty()) {
            members.put("scopes_supported", List.copyOf(scopes));
        }
        members.put("dpop_signing_alg_values_supported", Proofs.ALGORITHMS);
        return members;
    }

    private static WireAnswer.Whole json(Map<String, Object> members) {
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", "application/json", "Cache-Control", "public, max-age=300"),
                Json.write(members));
    }
}
