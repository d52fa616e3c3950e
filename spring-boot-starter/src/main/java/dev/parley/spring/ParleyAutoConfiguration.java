package dev.parley.spring;

import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.servlet.PlatformServlet;
import io.opentelemetry.api.OpenTelemetry;
import jakarta.servlet.Servlet;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Hosts the agents of an application, and serves them by a servlet if it has a servlet container. */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "parley.enabled", matchIfMissing = true)
@EnableConfigurationProperties(ParleyProperties.class)
public final class ParleyAutoConfiguration {
    private static final String SERVLET = "parleyServlet";

    @Bean
    @ConditionalOnMissingBean
    HostedHub parleyHub(
            Environment environment,
            ParleyProperties properties,
            ObjectProvider<HubCustomizer> customizers,
            ObjectProvider<OpenTelemetry> telemetry,
            ApplicationContext application) {
        OpenTelemetry traces = telemetry.getIfUnique();
        Stream<HubCustomizer> first = traces == null ? Stream.empty() : Stream.of(hub -> hub.openTelemetry(traces));
        return new HostedHub(
                environment,
                properties,
                new AgentBeans(application)::agents,
                Stream.concat(first, customizers.orderedStream()).toList(),
                application,
                application.containsBean(SERVLET));
    }

    /** In an application with a servlet container. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Servlet.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static final class InServletContainer {
        @Bean(SERVLET)
        ServletRegistrationBean<PlatformServlet> parleyServlet(
                HostedHub hub, ParleyProperties properties, ObjectProvider<CallerRule> rules) {
            CallerRule rule = rules.getIfAvailable(() -> ContainerCaller::named);
            var servlet = new PlatformServlet(hub::platform, rule::caller);
            var registration = new ServletRegistrationBean<>(servlet, properties.path() + "/*");
            registration.setName("parley");
            return registration;
        }
    }
}
