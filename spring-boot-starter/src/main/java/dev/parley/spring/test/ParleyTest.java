package dev.parley.spring.test;

import dev.parley.engine.Agent;
import dev.parley.engine.Skill;
import dev.parley.spring.AgentBean;
import dev.parley.spring.HubCustomizer;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Test of the agents of an application: a hub in memory hosts them at a free port of its own. Of the components that scanning finds, the
 * application has those that are agents ({@link AgentBean}), that have methods with {@link Skill}, and {@link HubCustomizer}, and
 * configurations with agents among their beans ({@link Agent}). Other beans come by {@code @Import} or as overrides of the test.
 *
 * <p>{@link AgentClients} is a bean, and so is a client of the default agent, unless the application has clients of its own.
 *
 * <p>Auto-configurations are those of Parley; a test adds others by {@link ImportAutoConfiguration}. Settings of the port, of TLS, of the
 * storage and of callers do not apply unless the test sets them itself.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(ParleyTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(ParleyTypeExcludeFilter.class)
@ImportAutoConfiguration
public @interface ParleyTest {
    /** Components that scanning includes, instead of all agents and configurations with agents. */
    Class<?>[] value() default {};

    /** Properties as {@code name=value}, above those of the application. */
    String[] properties() default {};

    /** Whether scanning includes agents at all, besides what the filters include. */
    boolean useDefaultFilters() default true;

    /** Further components that scanning includes. */
    Filter[] includeFilters() default {};

    /** Components that scanning leaves out. */
    Filter[] excludeFilters() default {};

    /** Auto-configurations that are left out. */
    @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
    Class<?>[] excludeAutoConfiguration() default {};
}
