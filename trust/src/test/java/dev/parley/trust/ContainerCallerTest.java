package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.trust.Authentication.Scheme;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that a container has authenticated. */
final class ContainerCallerTest {
    private static final ContainerCaller ALICE = new ContainerCaller(null, "alice", Set.of("files"));

    private static Trust trust(Authentication wanted) {
        return Trust.builder(
                        Callers.builder().apiKey("shop", "key-of-shop-12345").build(), null)
                .everywhere(wanted)
                .hub(() -> "https://hub.example/a2a")
                .build();
    }

    private static CallContext admit(
            Authentication wanted, @Nullable ContainerCaller caller, Map<String, String> headers) {
        return trust(wanted).admit("echo", head("POST", caller, headers)).caller();
    }

    private static RequestHead head(String method, @Nullable ContainerCaller caller, Map<String, String> headers) {
        var all = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        all.putAll(headers);
        return new RequestHead(method, "/agents/echo", all::get, "192.0.2.1", null, false, caller);
    }

    @Test
    void theCallerIsTheOneOfTheContainerWithItsGroupAndScopes() {
        Authentication wanted = Authentication.of(Scheme.CONTAINER);

        CallContext alice = admit(wanted, ALICE, Map.of());
        CallContext bob = admit(wanted, new ContainerCaller("bank", "bob", Set.of()), Map.of());

        assertThat(alice.scope()).isEqualTo(new CallContext.Scope("default", "alice"));
        assertThat(alice.grants()).containsExactly("files");
        assertThat(bob.scope()).isEqualTo(new CallContext.Scope("bank", "bob"));
        assertThat(trust(wanted)
                        .admit("echo", head("POST", ALICE, Map.of()))
                        .stands()
                        .getAsBoolean())
                .isTrue();
    }

    @Test
    void aRequestWithoutACallerIsRefusedOrAnonymous() {
        assertRefused(Authentication.of(Scheme.CONTAINER), null, Map.of());
        assertThat(admit(Authentication.of(Scheme.CONTAINER, Scheme.NONE), null, Map.of())
                        .caller())
                .isEqualTo("anonymous");
        assertThat(admit(Authentication.NONE, ALICE, Map.of()).caller())
                .as("a hub that does not take callers of its container")
                .isEqualTo("anonymous");
        assertRefused(Authentication.of(Scheme.API_KEY), ALICE, Map.of());
    }

    @Test
    void aKeyOfTheHubCountsBeforeTheCallerAndATokenIsOneOfTheContainer() {
        Authentication wanted = Authentication.of(Scheme.CONTAINER, Scheme.API_KEY, Scheme.BASIC);

        assertThat(admit(wanted, ALICE, Map.of("X-Api-Key", "key-of-shop-12345"))
                        .caller())
                .isEqualTo("shop");
        assertThat(admit(wanted, ALICE, Map.of("Authorization", "Basic b2YgdGhlIGNvbnRhaW5lcg=="))
                        .caller())
                .isEqualTo("alice");
        assertRefused(wanted, ALICE, Map.of("X-Api-Key", "wrong"));
    }

    @Test
    void scopesAreRequiredOfThemToo() {
        Authentication wanted = Authentication.of(Scheme.CONTAINER);
        assertThat(admit(wanted.withScopes(Set.of("files")), ALICE, Map.of()).caller())
                .isEqualTo("alice");
        assertThatThrownBy(() -> admit(wanted.withScopes(Set.of("admin")), ALICE, Map.of()))
                .extracting(refusal -> ((A2AException) refusal).error())
                .isEqualTo(A2AError.PERMISSION_DENIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"anonymous", "Anonymous", "two words", "", "a\nb", "*"})
    void aNameThatNoCallerMayHaveIsRefused(String name) {
        assertRefused(Authentication.of(Scheme.CONTAINER), new ContainerCaller(null, name, Set.of()), Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"two words", "", "a\nb", "*"})
    void aGroupThatNoCallerMayHaveIsRefused(String group) {
        assertRefused(
                Authentication.of(Scheme.CONTAINER, Scheme.NONE),
                new ContainerCaller(group, "bob", Set.of()),
                Map.of());
    }

    @ParameterizedTest
    @CsvSource({
        "POST, cross-site, https://other.example, , false",
        "POST, same-site, https://other.example, , false",
        "POST, , https://other.example, , false",
        "POST, cross-site, , Basic YTpi, false",
        "POST, cross-site, https://other.example, Negotiate t, false",
        "POST, cross-site, https://other.example, 'Digest username=\"a\"', false",
        "POST, cross-site, https://other.example, Bearer t, true",
        "POST, cross-site, https://other.example, dpop t, true",
        "POST, same-origin, https://hub.example, , true",
        "POST, , https://hub.example, , true",
        "POST, none, , , true",
        "POST, , , Basic YTpi, true",
        "GET, cross-site, https://other.example, , true"
    })
    void credentialsThatABrowserAddsForAForeignPageDoNotCount(
            String method,
            @Nullable String site,
            @Nullable String origin,
            @Nullable String authorization,
            boolean counts) {
        var headers = new TreeMap<String, String>();
        put(headers, "Sec-Fetch-Site", site);
        put(headers, "Origin", origin);
        put(headers, "Authorization", authorization);

        String caller = trust(Authentication.of(Scheme.CONTAINER, Scheme.NONE))
                .admit("echo", head(method, ALICE, headers))
                .caller()
                .caller();

        assertThat(caller).isEqualTo(counts ? "alice" : "anonymous");
    }

    private static void put(Map<String, String> headers, String name, @Nullable String value) {
        if (value != null) {
            headers.put(name, value);
        }
    }

    private static void assertRefused(
            Authentication wanted, @Nullable ContainerCaller caller, Map<String, String> headers) {
        assertThatThrownBy(() -> admit(wanted, caller, headers))
                .extracting(refusal -> ((A2AException) refusal).error())
                .isEqualTo(A2AError.UNAUTHENTICATED);
    }
}
