package dev.parley.spring;

import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.protocol.support.Excerpt;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;

/** Takes the users of Spring Security, with their authorities, as callers of agents with {@code parley.auth=container}. */
@AutoConfiguration(before = ParleyAutoConfiguration.class)
@ConditionalOnClass(Authentication.class)
public final class ParleySecurityAutoConfiguration {
    /** Begin of authorities that are scopes, as Spring Security makes them of the scopes of tokens. */
    private static final String SCOPE = "SCOPE_";

    /** Begin of the authority that is the group. */
    private static final String GROUP = "PARLEY_GROUP_";

    /** Scopes of operators of the hub: those that an issuer of tokens grants are meant for its own services. */
    private static final Set<String> OF_OPERATORS = Set.of("admin", "group-admin");

    private static final System.Logger LOG = System.getLogger("dev.parley.spring");

    @Bean
    @ConditionalOnMissingBean
    CallerRule parleyCallerRule() {
        return ParleySecurityAutoConfiguration::caller;
    }

    private static @Nullable ContainerCaller caller(Principal user) {
        if (!(user instanceof Authentication authentication)) {
            return ContainerCaller.named(user);
        }
        List<String> groups = after(GROUP, authentication.getAuthorities());
        if (groups.size() > 1) {
            // Each request of the user comes here.
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "user {0} is refused: authorities {1}* of several groups (expected: one)",
                    Excerpt.line(user.getName()),
                    GROUP);
            return null;
        }
        var scopes = new TreeSet<>(after(SCOPE, authentication.getAuthorities()));
        scopes.removeAll(OF_OPERATORS);
        return authentication.isAuthenticated()
                ? new ContainerCaller(groups.isEmpty() ? null : groups.getFirst(), user.getName(), scopes)
                : null;
    }

    private static List<String> after(String prefix, Collection<? extends GrantedAuthority> authorities) {
        return authorities.stream()
                .map(GrantedAuthority::getAuthority)
                .filter(Objects::nonNull)
                .filter(authority -> authority.startsWith(prefix))
                .map(authority -> authority.substring(prefix.length()))
                .distinct()
                .toList();
    }
}
