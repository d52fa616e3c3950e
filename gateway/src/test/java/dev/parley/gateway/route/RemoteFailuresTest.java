package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.spi.ClientException;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteFailuresTest {
    private static String shown(String target) {
        return String.valueOf(new RemoteFailures("route", List.of("agent.inner.example"))
                .shown(ClientException.redirected("https://agent.inner.example answered 307", target))
                .getMessage());
    }

    @ParameterizedTest
    @DisplayName("C4: callers are told where an agent outside redirects to")
    @CsvSource({
        "https://login.example/sign-in?key=secret, https://login.example/sign-in",
        "http://login.example:8080#top, http://login.example:8080",
        "HTTPS://A-b.Example.org, HTTPS://A-b.Example.org"
    })
    void targetsOutsideAreTold(String target, String shown) {
        assertThat(shown(target)).isEqualTo("Invalid agent response: redirected to " + shown);
    }

    @ParameterizedTest
    @DisplayName("C4: callers are told of a redirect to an address of an inner network, but not the address")
    @ValueSource(
            strings = {
                "http://10.0.0.1/elsewhere",
                "http://localhost/",
                "http://[::1]/",
                "http://agents/x",
                "https://user@login.example/",
                "https://agent.inner.example/x",
                "/relative",
                "javascript:alert(1)",
                ""
            })
    void innerTargetsAreNotTold(String target) {
        assertThat(shown(target))
                .isEqualTo("Invalid agent response: the agent redirects to another address"
                        + " (the log of the gateway names it)");
    }
}
