package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.interop.ForeignSdk;
import dev.parley.interop.ForeignServer;
import dev.parley.interop.Requirement;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Signing in at the console with an OpenID provider as it is published. */
@Timeout(90)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenIdSignInTest {
    private ForeignServer provider;
    private ConsoleHub hub;
    private Browser browser;

    @BeforeAll
    void start() throws IOException {
        try {
            ForeignSdk.OPEN_ID_PROVIDER.install();
        } catch (IOException failure) {
            Requirement.missing("the provider cannot be installed: " + failure.getMessage());
        }
        provider = ForeignSdk.OPEN_ID_PROVIDER.start("0");
        hub = new ConsoleHub(Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.of(Scheme.OPEN_ID).withScopes(List.of("tasks")))
                .issuer(provider.url())
                .set("openid-client", "console"));
        browser = Browser.at(hub.url());
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        if (hub != null) {
            hub.close();
            provider.close();
        }
    }

    @BeforeEach
    void signOut() {
        browser.leave();
        browser.deleteCookies();
        browser.forget();
    }

    @AfterEach
    void assertQuiet() {
        browser.forget("request: " + provider.url());
        browser.assertQuiet("complaints of the browser");
    }

    private void signIn() {
        browser.click(".sign button", "Sign in with your organization");
        browser.arrive(provider.url());
        browser.click("form button", "Sign in as ann");
        browser.arrive(hub.url());
    }

    @Test
    @DisplayName("a user of an OpenID provider signs in by code and PKCE, and comes back to the address it wanted")
    void aUserOfAProviderSignsIn() {
        browser.go("agents?q=minutes");
        browser.see("h1", "Sign in");
        signIn();

        browser.see(".tr .agent a", "scribe");
        browser.see(".who", "ann@" + provider.url().replace("http://", ""));
        assertThat(browser.address()).endsWith("/ui/agents?q=minutes");
        assertThat(browser.strings(
                        "return [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)]"))
                .noneMatch(text -> text.contains("eyJ"));
        browser.reload();
        browser.see(".tr .agent a", "scribe");
    }

    @Test
    @DisplayName("signing out ends the session; the provider still knows its user")
    void signingOutEndsTheSession() {
        browser.go("agents");
        signIn();
        browser.see(".tr .agent a", "scribe");
        browser.click(".top button", "Sign out");
        browser.see("h1", "Sign in");
        browser.click(
                ".sign button", "Sign in with your organization"); // the provider asks nothing, and leads back here
        browser.see(".tr .agent a", "scribe");
    }

    @Test
    @DisplayName("an answer of a provider that did not begin in the tab is refused")
    void aForeignAnswerIsRefused() {
        browser.go("signin?code=stolen&state=guessed");
        browser.see(".failure", "did not begin in this tab");
        browser.click(".failure button", "Try again");
        browser.see("h1", "Sign in");
        assertThat(browser.address()).doesNotContain("stolen");
    }

    @Test
    @DisplayName("a provider that refuses is quoted, as text")
    void aRefusalOfTheProviderIsQuoted() {
        browser.go("agents");
        browser.see("h1", "Sign in");
        browser.run(
                "sessionStorage.setItem('parley.openid /', JSON.stringify({state: 's', verifier: 'v', back: location.href}))");
        browser.go("signin?error=access_denied&error_description=<img src=x onerror=alert(1)>&state=s"
                .replace("<", "%3C")
                .replace(">", "%3E")
                .replace(" ", "%20"));

        browser.see(".failure", "The issuer refused the sign-in: <img src=x");
    }

    @Test
    @DisplayName("a code that the provider does not know is refused with a reason")
    void anUnknownCodeIsRefused() {
        browser.go("agents");
        browser.see("h1", "Sign in");
        browser.run(
                "sessionStorage.setItem('parley.openid /', JSON.stringify({state: 's', verifier: 'v'.repeat(43), back: location.href}))");
        browser.go("signin?code=unknown&state=s");

        browser.see(".failure", "The issuer refuses the code");
        browser.forget("status of 401 (Unauthorized)");
    }
}
