package dev.parley.spring;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

/** Shows the metrics of the hub among those of the application, in the registry of Prometheus that Micrometer writes to. */
@AutoConfiguration(
        after = ParleyAutoConfiguration.class,
        afterName =
                "org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus.PrometheusMetricsExportAutoConfiguration")
@ConditionalOnBean({HostedHub.class, PrometheusRegistry.class})
public final class ParleyMetricsAutoConfiguration {
    @Bean
    SmartInitializingSingleton parleyMetrics(HostedHub hub, PrometheusRegistry registry) {
        MultiCollector collector = hub::metrics;
        return () -> registry.register(collector);
    }
}
