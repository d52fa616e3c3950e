package dev.parley.spring;

import dev.parley.dialect.spi.ContainerCaller;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * Rule by which the user of a request, whom the application has authenticated, is the caller of an agent with {@code
 * parley.auth=container}. A bean of this type replaces the rule for Spring Security; without either the rule is {@link
 * ContainerCaller#named}.
 */
@FunctionalInterface
public interface CallerRule {
    /** Returns the caller; null if the user may not be one. Called by the threads of the container. */
    @Nullable
    ContainerCaller caller(Principal user);
}
