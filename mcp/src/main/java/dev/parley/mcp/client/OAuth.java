package dev.parley.mcp.client;

import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.Trees;
import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Loopback;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Access tokens of OAuth 2.1 for one server, which names its authorization server: by client credentials, or by the consent of a person
 * at the authorization server. Tokens are kept in memory. Safe for any thread. Source: MCP 2026-07-28, Authorization; RFC 6749, 7523,
 * 7591, 7636, 8414, 8707, 9207, 9728.
 */
public final class OAuth implements McpCredentials {
    /** Brings a person to the authorization server. */
    @FunctionalInterface
    public interface Consent {
        /**
         * Opens an address of the authorization server.
         *
         * @return the address to which it redirected at the end, with its query
         */
        URI open(URI authorization) throws IOException, InterruptedException;
    }

    /**
     * Registration of this client.
     *
     * @param clientId null for clients that register themselves, or have a metadata document
     * @param clientSecret null for none
     * @param privateKey PKCS #8 key of P-256 in PEM, which signs assertions; null for none
     * @param scope of the first token; null for the one that the server wants
     * @param metadataUrl of the metadata document of the client, which is its id where that is supported; null for none
     * @param redirect to which the authorization server redirects after the consent
     * @param consent null for client credentials
     */
    public record Registration(
            @Nullable String clientId,
            @Nullable String clientSecret,
            @Nullable String privateKey,
            @Nullable String scope,
            @Nullable String metadataUrl,
            String redirect,
            @Nullable Consent consent) {
        /** Client credentials with a secret. */
        public static Registration credentials(String clientId, String clientSecret, @Nullable String scope) {
            return new Registration(clientId, clientSecret, null, scope, null, "", null);
        }

        @Override
        public String toString() {
            return "Registration[" + Redaction.MASK + "]";
        }
    }

    /** A client at an authorization server. */
    private record Client(String id, @Nullable String secret, String method) {
        @Override
        public String toString() {
            return "Client[id=" + id + ", secret=" + Redaction.MASK + "]";
        }
    }

    /** Tokens of an authorization server. */
    private record Tokens(
            String issuer, String access, @Nullable String refresh, Set<String> scopes) {
        @Override
        public String toString() {
            return "Tokens[" + Redaction.MASK + "]";
        }
    }

    private static final int MAX_BODY = 256 * 1024;
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final Pattern PARAMETER = Pattern.compile("([A-Za-z_]+)=(?:\"([^\"]*)\"|([^\\s,]+))");

    private final URI server;
    private final HttpClient http;
    private final Registration registration;
    private final ReentrantLock renewing = new ReentrantLock();
    private final Map<String, Client> clients = new HashMap<>();
    private volatile @Nullable Tokens tokens;

    /**
     * @param server address of the MCP server
     * @param http for addresses that the server and its authorization server name; follows no redirects
     */
    public OAuth(URI server, HttpClient http, Registration registration) {
        this.server = server;
        this.http = http;
        this.registration = registration;
    }

    @Override
    public Optional<String> authorization() {
        Tokens held = tokens;
        return held == null ? Optional.empty() : Optional.of("Bearer " + held.access);
    }

    @Override
    public boolean renew(int status, HttpHeaders headers, Optional<String> refused)
            throws IOException, InterruptedException {
        renewing.lockInterruptibly();
        try {
            if (!authorization().equals(refused)) {
                return true; // another request was faster
            }
            Map<String, String> challenge = challenge(headers);
            Tokens held = tokens;
            Set<String> challenged = words(challenge.get("scope"));
            if (status == 403 && (held == null || held.scopes.containsAll(challenged))) {
                return false;
            }
            Map<String, @Nullable Object> resource = resource(challenge.get("resource_metadata"));
            Map<String, @Nullable Object> issuer = issuer(resource);
            tokens = token(resource, issuer, scopes(challenged, held, resource, issuer), status == 401 ? held : null);
            return true;
        } catch (LimitedBytes.TooLarge tooLarge) {
            throw refused("a document of the authorization server is " + tooLarge.getMessage());
        } finally {
            renewing.unlock();
        }
    }

    private static Map<String, String> challenge(HttpHeaders headers) {
        var parameters = new HashMap<String, String>();
        for (String value : headers.allValues("WWW-Authenticate")) {
            Matcher each = PARAMETER.matcher(value);
            while (each.find()) {
                parameters.putIfAbsent(each.group(1), each.group(2) == null ? each.group(3) : each.group(2));
            }
        }
        return parameters;
    }

    private static Set<String> words(@Nullable String text) {
        return text == null || text.isBlank()
                ? Set.of()
                : new LinkedHashSet<>(Arrays.asList(text.strip().split(" +", -1)));
    }

    /** The scopes of the challenge, else of the registration, else all of the resource; and those of the token before. */
    private Set<String> scopes(
            Set<String> challenged,
            @Nullable Tokens held,
            Map<String, @Nullable Object> resource,
            Map<String, @Nullable Object> issuer) {
        var scopes = new LinkedHashSet<>(challenged);
        if (scopes.isEmpty()) {
            scopes.addAll(
                    registration.scope == null ? Trees.texts(resource, "scopes_supported") : words(registration.scope));
        }
        if (held != null) {
            scopes.addAll(held.scopes);
        }
        if (registration.consent != null
                && Trees.texts(issuer, "scopes_supported").contains("offline_access")) {
            scopes.add("offline_access");
        }
        return scopes;
    }

    /** Metadata of the protected resource. Source: RFC 9728. */
    private Map<String, @Nullable Object> resource(@Nullable String named) throws IOException, InterruptedException {
        String origin = origin(server);
        String path = server.getPath() == null || server.getPath().equals("/") ? "" : server.getPath();
        String base = origin + "/.well-known/oauth-protected-resource";
        List<String> places =
                named != null ? List.of(named) : path.isEmpty() ? List.of(base) : List.of(base + path, base);
        for (String place : places) {
            Optional<Map<String, @Nullable Object>> found = get(URI.create(place));
            if (found.isPresent()) {
                String resource = String.valueOf(found.get().get("resource"));
                if (!covers(resource)) {
                    throw refused("resource \"" + resource + "\" in the metadata (expected: " + server + ")");
                }
                return found.get();
            }
        }
        throw refused("the server has no metadata of the protected resource");
    }

    private boolean covers(String resource) {
        String base = resource.endsWith("/") ? resource.substring(0, resource.length() - 1) : resource;
        String own = server.toString();
        return own.equals(resource)
                || own.equals(base)
                || own.startsWith(base + "/") && base.length() >= origin(server).length();
    }

    private static String origin(URI uri) {
        return uri.getScheme() + "://" + uri.getRawAuthority();
    }

    /** Metadata of the first authorization server. Source: RFC 8414; OpenID Connect Discovery. */
    private Map<String, @Nullable Object> issuer(Map<String, @Nullable Object> resource)
            throws IOException, InterruptedException {
        String issuer = Trees.texts(resource, "authorization_servers").stream()
                .findFirst()
                .orElseThrow(() -> refused("the metadata of the resource names no authorization server"));
        URI uri = safe(issuer);
        String origin = origin(uri);
        String path = uri.getPath() == null || uri.getPath().equals("/") ? "" : uri.getPath();
        var places = new ArrayList<String>();
        places.add(origin + "/.well-known/oauth-authorization-server" + path);
        places.add(origin + "/.well-known/openid-configuration" + path);
        if (!path.isEmpty()) {
            places.add(origin + path + "/.well-known/openid-configuration");
        }
        for (String place : places) {
            Optional<Map<String, @Nullable Object>> found = get(URI.create(place));
            if (found.isPresent()) {
                if (!issuer.equals(found.get().get("issuer"))) {
                    throw refused("issuer \"" + found.get().get("issuer") + "\" (expected: " + issuer + ")");
                }
                return found.get();
            }
        }
        throw refused("authorization server " + issuer + " has no metadata");
    }

    private Tokens token(
            Map<String, @Nullable Object> resource,
            Map<String, @Nullable Object> issuer,
            Set<String> scopes,
            @Nullable Tokens expired)
            throws IOException, InterruptedException {
        String name = String.valueOf(issuer.get("issuer"));
        String audience = String.valueOf(resource.get("resource"));
        Client client = client(issuer);
        if (expired != null && expired.refresh != null && expired.issuer.equals(name)) {
            OAuthForm form = new OAuthForm().put("resource", audience).refreshGrant(expired.refresh);
            Optional<Tokens> refreshed = exchange(issuer, client, form, scopes, expired.refresh);
            if (refreshed.isPresent()) {
                return refreshed.get();
            }
        }
        OAuthForm form = new OAuthForm().put("resource", audience);
        if (registration.consent == null) {
            form.credentialsGrant().scopes(scopes);
        } else {
            consent(registration.consent, issuer, client, audience, scopes, form);
        }
        return exchange(issuer, client, form, scopes, null)
                .orElseThrow(() -> refused("authorization server " + name + " gives no token"));
    }

    /** Adds the code that the authorization server gives after the consent of a person. Source: RFC 7636, 9207. */
    private void consent(
            Consent consent,
            Map<String, @Nullable Object> issuer,
            Client client,
            String audience,
            Set<String> scopes,
            OAuthForm form)
            throws IOException, InterruptedException {
        if (!Trees.texts(issuer, "code_challenge_methods_supported").contains("S256")) {
            throw refused("the authorization server does not support PKCE with S256");
        }
        String state = OAuthForm.random();
        String verifier = OAuthForm.random();
        OAuthForm query = new OAuthForm()
                .codeRequest(client.id, registration.redirect, state, verifier)
                .put("resource", audience)
                .scopes(scopes);
        if (scopes.contains("offline_access")) {
            query.put("prompt", "consent");
        }
        URI endpoint = safe(String.valueOf(issuer.get("authorization_endpoint")));
        Map<String, String> answer =
                OAuthForm.read(consent.open(query.appendedTo(endpoint)).getRawQuery());
        String named = answer.get("iss");
        boolean isNamed = Boolean.TRUE.equals(issuer.get("authorization_response_iss_parameter_supported"));
        if (named == null ? isNamed : !named.equals(issuer.get("issuer"))) {
            throw refused("iss \"" + named + "\" of the authorization (expected: " + issuer.get("issuer") + ")");
        }
        if (!state.equals(answer.get("state"))) {
            throw refused("the state of the authorization is another one");
        }
        String code = answer.get("code");
        if (code == null) {
            throw refused("no authorization: " + answer.getOrDefault("error", "no code"));
        }
        form.codeGrant(code, registration.redirect, verifier);
    }

    /** Posts to the token endpoint; empty if it refuses. */
    private Optional<Tokens> exchange(
            Map<String, @Nullable Object> issuer,
            Client client,
            OAuthForm form,
            Set<String> scopes,
            @Nullable String refresh)
            throws IOException, InterruptedException {
        URI endpoint = safe(String.valueOf(issuer.get("token_endpoint")));
        authenticate(form, client, String.valueOf(issuer.get("issuer")));
        TokenAnswer answer = form.send(http, null, endpoint, LIMIT);
        if (answer.status() != 200 || !answer.isObject()) {
            return Optional.empty();
        }
        String access;
        try {
            access = answer.bearer();
        } catch (IllegalArgumentException otherType) {
            throw refused("the authorization server answers with " + otherType.getMessage());
        }
        if (access == null) {
            return Optional.empty();
        }
        Set<String> granted = words(answer.text("scope"));
        String next = answer.text("refresh_token");
        var all = new LinkedHashSet<>(scopes);
        all.addAll(granted);
        return Optional.of(
                new Tokens(String.valueOf(issuer.get("issuer")), access, next == null ? refresh : next, all));
    }

    private void authenticate(OAuthForm form, Client client, String audience) {
        if (registration.privateKey != null) {
            try {
                form.client(client.id, audience, registration.privateKey);
            } catch (GeneralSecurityException unusable) {
                throw new ServerFailure(
                        Kind.UNAUTHORIZED,
                        "private key of the client: unusable (expected: PKCS #8 of P-256)",
                        unusable);
            }
        } else if (client.secret != null && client.method.equals("client_secret_basic")) {
            form.basicClient(client.id, client.secret);
        } else {
            form.client(client.id, client.secret);
        }
    }

    private Client client(Map<String, @Nullable Object> issuer) throws IOException, InterruptedException {
        List<String> methods = Trees.texts(issuer, "token_endpoint_auth_methods_supported");
        if (registration.clientId != null) {
            String method = methods.isEmpty() || methods.contains("client_secret_basic")
                    ? "client_secret_basic"
                    : "client_secret_post";
            return new Client(
                    registration.clientId,
                    registration.clientSecret,
                    registration.clientSecret == null ? "none" : method);
        }
        if (registration.metadataUrl != null
                && Boolean.TRUE.equals(issuer.get("client_id_metadata_document_supported"))) {
            return new Client(registration.metadataUrl, null, "none");
        }
        String name = String.valueOf(issuer.get("issuer"));
        Client held = clients.get(name);
        if (held == null) {
            held = register(issuer, methods);
            clients.put(name, held);
        }
        return held;
    }

    private Client register(Map<String, @Nullable Object> issuer, List<String> methods)
            throws IOException, InterruptedException {
        String endpoint = Trees.text(issuer, "registration_endpoint");
        if (endpoint == null) {
            throw refused("the authorization server registers no clients (expected: a configured clientId)");
        }
        String method = List.of("none", "client_secret_basic", "client_secret_post").stream()
                .filter(methods::contains)
                .findFirst()
                .orElse("client_secret_basic");
        Map<String, @Nullable Object> metadata = Trees.json("""
                {"client_name": "Parley", "redirect_uris": [], "grant_types": ["authorization_code", "refresh_token"],
                 "response_types": ["code"], "application_type": "native"}""");
        metadata = Trees.with(metadata, "redirect_uris", List.of(registration.redirect));
        metadata = Trees.with(metadata, "token_endpoint_auth_method", method);
        TokenAnswer answer = send(HttpRequest.newBuilder(safe(endpoint))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(JsonText.write(Codecs.STRUCT, metadata))));
        String id = Trees.text(answer.members(), "client_id");
        if (answer.status() / 100 != 2 || id == null) {
            throw refused("the authorization server refuses the registration with status " + answer.status());
        }
        String given = Trees.text(answer.members(), "token_endpoint_auth_method");
        return new Client(id, Trees.text(answer.members(), "client_secret"), given == null ? method : given);
    }

    /** A document; empty if there is none at the address. */
    private Optional<Map<String, @Nullable Object>> get(URI url) throws IOException, InterruptedException {
        TokenAnswer answer = send(HttpRequest.newBuilder(safe(url.toString())).GET());
        return answer.status() == 200 && !answer.members().isEmpty() ? Optional.of(answer.members()) : Optional.empty();
    }

    private TokenAnswer send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = http.send(
                request.setHeader("Accept", "application/json").timeout(LIMIT).build(),
                head -> new LimitedBytes(MAX_BODY));
        return TokenAnswer.of(answer.statusCode(), answer.headers(), answer.body());
    }

    /** Tokens and codes go over TLS, or stay on this machine. */
    private static URI safe(String url) {
        try {
            URI uri = URI.create(url);
            if ("https".equals(uri.getScheme())
                    || "http".equals(uri.getScheme()) && uri.getHost() != null && Loopback.is(uri.getHost())) {
                return uri;
            }
        } catch (IllegalArgumentException none) {
            // refused below
        }
        throw refused("address \"" + url + "\" for authorization (expected: https)");
    }

    private static ServerFailure refused(String problem) {
        return new ServerFailure(Kind.UNAUTHORIZED, problem);
    }
}
