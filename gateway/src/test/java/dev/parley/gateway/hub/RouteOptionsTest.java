package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.gateway.route.Route;
import dev.parley.gateway.upstream.UpstreamSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RouteOptionsTest {
    @Test
    void allSettingsOfARouteAreShown() {
        var options = new LinkedHashMap<String, Object>(
                UpstreamSettings.of("http://a.example", "http://b.example").json());
        options.putAll(Map.of(Route.ADDRESS, "http://c.example", Route.TRUST, true, "client-id", "12x"));

        assertThat(RouteOptions.CODEC.toJson(options)).isEqualTo(options);
        assertThat(RouteOptions.CODEC.fromJson(RouteOptions.CODEC.toJson(options)))
                .isEqualTo(options);
    }

    @Test
    void replicasAreShownAsTheyWereTyped() {
        Map<String, Object> options = Map.of("replicas", List.of("3*http://a.example"));

        assertThat(RouteOptions.CODEC.toJson(options)).isEqualTo(options);
    }

    @Test
    void textsOfDigitsAreTextsAndNumbersWithoutEffectAreNotShown() {
        Map<String, Object> options = Map.of("client-id", 12, "retries", "many");

        assertThat(RouteOptions.CODEC.toJson(options)).isEqualTo(Map.of("client-id", "12"));
    }
}
