package dev.parley.hub.admin;

import dev.parley.extension.AdminRow;
import dev.parley.extension.HubExtensionSource;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Operations of the administration of a hub, one row for each: routes, authorization, metrics, the audit, {@code /openapi.json} and the
 * commands of the command line are derived from these.
 */
public final class AdminOperations {
    /** Address of all of them, below the one of the hub. */
    public static final String PATH = AdminRow.PATH;

    /** Extensions on the class path. */
    public static final List<HubExtensionSource> INSTALLED =
            ServiceLoader.load(HubExtensionSource.class, HubExtensionSource.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private static final Map<String, ExtensionMethod<?, ?>> ROWS = new LinkedHashMap<>();

    static {
        Stream.of(
                        HubOperation.ROWS,
                        MemberOperation.ROWS,
                        AuditOperation.ROWS,
                        WebhookOperation.ROWS,
                        PrivacyOperation.ROWS,
                        List.of(SettingOperation.LIST))
                .flatMap(List::stream)
                .forEach(row -> ROWS.put(row.name(), row));
        INSTALLED.forEach(source -> source.administration().forEach(row -> ROWS.put(row.name(), row)));
    }

    private AdminOperations() {}

    /** Names of all operations: the key of policies, metrics, traces and the audit. */
    public static Set<String> names() {
        return Set.copyOf(ROWS.keySet());
    }

    /** The operation of that name; null if there is none. */
    public static @Nullable ExtensionMethod<?, ?> named(String name) {
        return ROWS.get(name);
    }

    /**
     * Names after {@code admin/privacy/} of the operations that list what the hub and its extensions hold about a principal, by pages. Without
     * tasks and memories, which are also listed by contexts.
     */
    public static List<String> personalData() {
        String reading = "GET " + PATH + "/privacy/";
        return ROWS.values().stream()
                .filter(row -> row.rest().startsWith(reading))
                .map(row -> row.rest().substring(reading.length()))
                .filter(what -> !Set.of("tasks", "memories").contains(what))
                .toList();
    }

    /** Whether an operation changes something, or returns a secret. */
    static boolean changes(String name) {
        ExtensionMethod<?, ?> row = ROWS.get(name);
        return row != null && !row.rest().startsWith("GET ");
    }

    /** The operations of these names, in the order of the table; those of other extensions at its end. */
    static ExtensionProtocol protocol(Collection<String> names, List<HubExtensionSource> extensions) {
        var rows = new LinkedHashMap<>(ROWS);
        extensions.forEach(source -> source.administration().forEach(row -> rows.put(row.name(), row)));
        return ExtensionProtocol.of(
                PATH,
                rows.values().stream().filter(one -> names.contains(one.name())).toArray(ExtensionMethod[]::new));
    }
}
