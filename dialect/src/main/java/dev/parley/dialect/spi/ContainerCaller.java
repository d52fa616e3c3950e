package dev.parley.dialect.spi;

import static java.util.Objects.requireNonNull;

import java.security.Principal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A caller that the container has authenticated which serves the agents, such as a servlet container.
 *
 * @param group of the data that the caller may see; null for the default group
 * @param name within the group
 * @param scopes that the caller was granted
 */
public record ContainerCaller(@Nullable String group, String name, Set<String> scopes) {
    public ContainerCaller {
        requireNonNull(name, "name");
        scopes = Set.copyOf(scopes);
    }

    /** Returns the caller that has the name of {@code user}, is in the default group, and has no scopes; null if the user has no name. */
    public static @Nullable ContainerCaller named(Principal user) {
        return user.getName() == null ? null : new ContainerCaller(null, user.getName(), Set.of());
    }
}
