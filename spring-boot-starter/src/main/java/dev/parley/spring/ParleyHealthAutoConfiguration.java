package dev.parley.spring;

import java.util.Map;
import java.util.Optional;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Shows the condition of the hub among those of the application, as {@code parley}. */
@AutoConfiguration(after = ParleyAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(HostedHub.class)
@ConditionalOnEnabledHealthIndicator("parley")
public final class ParleyHealthAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = "parleyHealthIndicator")
    HealthIndicator parleyHealthIndicator(HostedHub hub) {
        return () -> health(hub);
    }

    private static Health health(HostedHub hub) {
        Optional<String> reason = hub.unready();
        if (reason.isPresent()) {
            return Health.outOfService().withDetail("reason", reason.get()).build();
        }
        Map<String, String> down = hub.problems();
        Health.Builder up = Health.up().withDetail("url", hub.url());
        return (down.isEmpty() ? up : up.withDetail("down", down)).build();
    }
}
