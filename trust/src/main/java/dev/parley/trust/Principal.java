package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Authenticated caller: a person, an agent or a program.
 *
 * @param group of the data that it may see; the tenant
 * @param name within the group
 * @param scopes that its credential was granted
 */
public record Principal(String group, String name, Set<String> scopes) {
    /** The group of those about whom nothing else was said. */
    public static final String DEFAULT_GROUP = "default";

    /** Scope of operators of a hub. */
    public static final String ADMIN = "admin";

    /** Scope for reading the metrics of a hub. */
    public static final String METRICS = "metrics";

    /** Scope of group administrators: permits the operations of the administration that concern a single group. */
    static final String GROUP_ADMIN = "group-admin";

    private static final Pattern GROUP = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@/:+-]{0,199}");

    public Principal {
        requireNonNull(group, "group");
        requireNonNull(name, "name");
        scopes = Set.copyOf(scopes);
    }

    /** The caller of a context. */
    static Principal of(CallContext context) {
        return new Principal(context.scope().group(), context.caller(), context.grants());
    }

    CallContext context(String address) {
        return CallContext.of(name, new CallContext.Scope(group, name)).withGrants(scopes, address);
    }

    static String requireGroup(String group) {
        if (!GROUP.matcher(group).matches()) {
            throw new IllegalArgumentException(
                    "group: " + group + " (expected: letters, digits, '.', '_', '-', at most 63)");
        }
        return group;
    }

    /** Tasks that were begun before there was authentication are anonymous's, and stay out of reach. */
    static String requireName(String name) {
        if (!NAME.matcher(name).matches() || name.equalsIgnoreCase("anonymous")) {
            throw new IllegalArgumentException("principal: " + name
                    + " (expected: letters, digits, '.', '_', '@', '/', ':', '+', '-', at most 200; not anonymous)");
        }
        return name;
    }
}
