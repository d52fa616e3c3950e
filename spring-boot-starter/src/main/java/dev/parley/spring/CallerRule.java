package dev.parley.spring;

import dev.parley.dialect.spi.ContainerCaller;
import java.security.Principal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rule by which the user of a request, whom the application has authenticated, is the caller of an agent with {@code
 * parley.auth=container}. A bean of this type replaces the rule for Spring Security.
 */
@FunctionalInterface
public interface CallerRule {
    /** The caller has the name of the user, is in the default group, and has no scopes. */
    CallerRule BY_NAME = user -> user.getName() == null ? null : new ContainerCaller(null, user.getName(), Set.of());

    /** Returns the caller; null if the user may not be one. Called by the threads of the container. */
    @Nullable
    ContainerCaller caller(Principal user);
}
