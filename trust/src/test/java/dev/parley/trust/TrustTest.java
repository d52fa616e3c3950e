package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.SecurityScheme;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who is let in, as whom, and what the others are told. */
final class TrustTest {
    private static final byte[] TOKEN_KEY = new byte[32];
    private static final String HUB = "https://agents.example.com";

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private final Callers callers = Callers.builder()
            .apiKey("alice", "key-of-alice-1234")
            .bearer("bob", "token-of-bob-12345")
            .oauthClient("shop", "client", "secret-of-the-shop")
            .scopes("shop", List.of("read"))
            .scopes("bob", List.of("admin"))
            .build();
    private final Trust trust = Trust.builder(callers, null)
            .everywhere(Authentication.of(Scheme.API_KEY, Scheme.BEARER, Scheme.OAUTH2))
            .agent("open", Authentication.NONE)
            .agent("keys", Authentication.of(Scheme.API_KEY))
            .agent("either", Authentication.of(Scheme.NONE, Scheme.API_KEY))
            .agent("bearers", Authentication.of(Scheme.BEARER))
            .agent("tokens", Authentication.of(Scheme.OAUTH2))
            .agent("scoped", Authentication.of(Scheme.OAUTH2, Scheme.API_KEY).withScopes(List.of("read")))
            .tokenKey(TOKEN_KEY)
            .hub(() -> HUB)
            .clock(clock)
            .build();

    private CallContext caller(String agent, RequestHead arrival) {
        return trust.admit(agent, arrival).caller();
    }

    private static RequestHead headers(String... headers) {
        var all = new HashMap<String, String>();
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        return new RequestHead("POST", "/agents/echo", all::get, "192.0.2.1", null);
    }

    private static RequestHead key(String key) {
        return headers("X-Api-Key", key);
    }

    private static RequestHead bearer(String token) {
        return headers("Authorization", "Bearer " + token);
    }

    @Test
    void whoseIssuerCannotBeAskedHasGuessedNothing() {
        Trust asking = Trust.builder(callers, null)
                .everywhere(Authentication.of(Scheme.API_KEY, Scheme.OPEN_ID))
                .issuer("http://127.0.0.1:1")
                .hub(() -> HUB)
                .clock(clock)
                .build();
        String token = Stream.of("{\"alg\":\"RS256\"}", "{\"iss\":\"http://127.0.0.1:1\"}", "forged")
                .map(part -> Base64.getUrlEncoder().withoutPadding().encodeToString(part.getBytes(UTF_8)))
                .collect(Collectors.joining("."));

        for (int i = 0; i < 40; i++) {
            assertThatThrownBy(() -> asking.admit("echo", bearer(token)))
                    .extracting(refusal -> ((A2AException) refusal).error())
                    .isEqualTo(A2AError.UNAVAILABLE);
        }
        assertThatThrownBy(() -> asking.admit("echo", key("wrong")))
                .extracting(refusal -> ((A2AException) refusal).error())
                .isEqualTo(A2AError.UNAUTHENTICATED);
    }

    private String token(String caller, String client, String... scopes) {
        return new AccessTokens(TOKEN_KEY, () -> HUB, clock).issue(new Grant(caller, client, Set.of(scopes), null));
    }

    private static A2AException refusal(ThrowingCallable call) {
        var refusal = new A2AException[1];
        assertThatThrownBy(call).isInstanceOfSatisfying(A2AException.class, thrown -> refusal[0] = thrown);
        return refusal[0];
    }

    @Test
    void aCallerIsWhoItsCredentialSaysAndOwnsItsTasks() {
        CallContext alice = caller("echo", key("key-of-alice-1234"));

        assertThat(alice.caller()).isEqualTo("alice");
        assertThat(alice.scope()).isEqualTo(new CallContext.Scope("default", "alice"));
        assertThat(caller("echo", bearer("token-of-bob-12345")).caller()).isEqualTo("bob");
        assertThat(caller("echo", bearer(token("shop", "client", "read"))).caller())
                .isEqualTo("shop");
        assertThat(caller("echo", headers("Authorization", "bearer  token-of-bob-12345"))
                        .caller())
                .isEqualTo("bob");
    }

    @Test
    void whoShowsNothingIsToldWhatToShow() {
        A2AException refusal = refusal(() -> caller("echo", headers()));

        assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED);
        assertThat(refusal.challenge())
                .isEqualTo(
                        "ApiKey realm=\"parley\", header=\"X-Api-Key\", Bearer realm=\"parley\", resource_metadata=\""
                                + HUB + "/.well-known/oauth-protected-resource\"");
        assertThat(refusal(() -> caller("keys", headers())).challenge()).doesNotContain("Bearer");
    }

    @Test
    void aWrongCredentialIsRefusedEvenNextToARightOne() {
        assertThat(refusal(() -> caller("echo", key("key-of-alice-1235"))).error())
                .isEqualTo(A2AError.UNAUTHENTICATED);
        A2AException refusal = refusal(() -> caller("echo", bearer("token-of-bob-12346")));
        assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED);
        assertThat(refusal.challenge()).contains("error=\"invalid_token\"");
        assertThat(refusal(() -> caller(
                                "echo", headers("X-Api-Key", "wrong", "Authorization", "Bearer token-of-bob-12345")))
                        .error())
                .isEqualTo(A2AError.UNAUTHENTICATED);
    }

    @Test
    @DisplayName("ONE26: who logs in gets a JWT, which is let in until it expires, and then gets 401")
    void aLoginIsGoodForItsTime() {
        String form = "grant_type=client_credentials&client_id=client&client_secret=secret-of-the-shop";
        var headers = Map.of("Content-Type", "application/x-www-form-urlencoded");
        var login = new WireRequest("POST", "", Map.of(), headers::get, form.getBytes(UTF_8), "192.0.2.1");
        Map<?, ?> answer = Json.read(((WireAnswer.Whole) trust.token(login)).body(), Map.class);
        String token = String.valueOf(answer.get("access_token"));

        assertThat(token.split("\\.", -1))
                .as("header, claims and signature of a JWT")
                .hasSize(3);
        assertThat(caller("tokens", bearer(token)).caller()).isEqualTo("shop");

        clock.advance(Duration.ofSeconds(((Number) requireNonNull(answer.get("expires_in"))).longValue() + 61));

        A2AException refusal = refusal(() -> caller("tokens", bearer(token)));
        assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED);
        assertThat(refusal.error().httpStatus()).isEqualTo(401);
        assertThat(refusal.challenge()).contains("error=\"invalid_token\"");
    }

    @Test
    void onlyTheSchemesOfTheAgentCount() {
        String token = token("shop", "client", "read");

        assertThat(caller("open", headers())).isEqualTo(CallContext.anonymous().withGrants(Set.of(), "192.0.2.1"));
        assertThat(caller("open", key("whatever it is")))
                .isEqualTo(CallContext.anonymous().withGrants(Set.of(), "192.0.2.1"));
        assertThat(caller("bearers", bearer(token)).caller()).isEqualTo("shop");
        assertThat(caller("tokens", bearer(token)).caller()).isEqualTo("shop");
        refusal(() -> caller("tokens", bearer("token-of-bob-12345")));
        refusal(() -> caller("tokens", key("key-of-alice-1234")));
        refusal(() -> caller("keys", bearer(token)));
        refusal(() -> caller("keys", headers("Authorization", "Basic YTpi")));
    }

    @Test
    void whereNothingNeedBeShownAWrongKeyIsStillWrong() {
        assertThat(caller("either", headers()).caller()).isEqualTo("anonymous");
        assertThat(caller("either", key("key-of-alice-1234")).caller()).isEqualTo("alice");
        refusal(() -> caller("either", key("key-of-alice-1235")));
    }

    @Test
    void allScopesOfTheAgentAreNeeded() {
        assertThat(caller("scoped", bearer(token("shop", "client", "read"))).caller())
                .isEqualTo("shop");

        A2AException refusal = refusal(() -> caller("scoped", bearer(token("shop", "client"))));

        assertThat(refusal.error()).isEqualTo(A2AError.PERMISSION_DENIED);
        assertThat(refusal.challenge()).contains("error=\"insufficient_scope\"", "scope=\"read\"");
        assertThat(refusal(() -> caller("scoped", key("key-of-alice-1234"))).error())
                .isEqualTo(A2AError.PERMISSION_DENIED);
    }

    @Test
    void aTokenIsWorthNothingWithoutTheClientThatItWasGivenTo() {
        refusal(() -> caller("tokens", bearer(token("shop", "former", "read"))));
        refusal(() -> caller("tokens", bearer(token("former", "client", "read"))));
        refusal(() -> caller("tokens", bearer(token("shop", "client", "read", "write"))));
    }

    @Test
    void whoLooksAfterTheHubNeedsTheScopeForIt() {
        trust.requireAdmin(bearer("token-of-bob-12345"));

        assertThat(refusal(() -> trust.requireAdmin(key("key-of-alice-1234"))).error())
                .isEqualTo(A2AError.PERMISSION_DENIED);
        assertThat(refusal(() -> trust.requireAdmin(headers())).error()).isEqualTo(A2AError.UNAUTHENTICATED);
        Trust.builder(callers, null).build().requireAdmin(headers());
    }

    @Test
    void cardsNameEveryIssuer() {
        AgentCard card = Trust.builder(callers, null)
                .everywhere(Authentication.of(Scheme.OPEN_ID))
                .issuer("https://one.example")
                .issuer("https://two.example/")
                .issuer("https://three.example")
                .build()
                .card("open", card());

        assertThat(card.securitySchemes())
                .isEqualTo(Map.of(
                        "parley",
                        new SecurityScheme.OpenIdConnect(null, "https://one.example/.well-known/openid-configuration"),
                        "parley.openIdConnect",
                        new SecurityScheme.OpenIdConnect(null, "https://two.example/.well-known/openid-configuration"),
                        "parley.openIdConnect.2",
                        new SecurityScheme.OpenIdConnect(
                                null, "https://three.example/.well-known/openid-configuration")));
        assertThat(card.securityRequirements()).hasSize(3);
    }

    @Test
    void theCardSaysWhatIsNeeded() {
        AgentCard plain = trust.card("open", card());
        AgentCard card = trust.card("scoped", card());
        AgentCard either = trust.card("either", card());

        assertThat(plain).isEqualTo(card());
        assertThat(card.securitySchemes().keySet()).containsExactly("parley", "parley.oauth2");
        assertThat(card.securitySchemes().get("parley"))
                .isEqualTo(new SecurityScheme.ApiKey(null, "header", "X-Api-Key"));
        assertThat(card.securitySchemes().get("parley.oauth2"))
                .isInstanceOfSatisfying(
                        SecurityScheme.OAuth2.class,
                        oauth -> assertThat(oauth.flow())
                                .isEqualTo(new SecurityScheme.Flow.ClientCredentials(
                                        HUB + "/oauth/token", null, Map.of("read", "needed to call this agent"))));
        assertThat(card.securityRequirements())
                .containsExactly(
                        new SecurityRequirement(Map.of("parley", List.of())),
                        new SecurityRequirement(Map.of("parley.oauth2", List.of("read"))));
        assertThat(either.securityRequirements())
                .containsExactly(
                        new SecurityRequirement(Map.of("parley", List.of())), new SecurityRequirement(Map.of()));
    }

    @Test
    void aSchemeByWhichNobodyIsKnownIsAMistake() {
        Callers nobody = Callers.builder().build();

        assertThatThrownBy(() -> Trust.builder(nobody, null)
                        .everywhere(Authentication.of(Scheme.OAUTH2))
                        .build())
                .hasMessage("scheme oauth2: no caller has a credential for it (expected: one caller at least)");
        assertThatThrownBy(() -> Authentication.named(List.of("magic")))
                .hasMessage(
                        "scheme: magic (expected: none, apiKey, bearer, oauth2, openIdConnect, mutualTLS, basic, container)");
        assertThatThrownBy(() -> Authentication.NONE.withScopes(List.of("read")))
                .hasMessage("scopes: read (expected: none without required authentication)");
    }

    private static AgentCard card() {
        return new AgentCard(
                "echo",
                "Says it again",
                List.of(new AgentCard.Interface(HUB + "/agents/echo", AgentCard.Interface.JSONRPC, null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, true, List.of(), null),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null);
    }
}
