package dev.parley.hub;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingType.LIST;
import static dev.parley.protocol.settings.SettingType.PORT;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.engine.TaskLimits;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.server.ServerSettings;
import dev.parley.store.StoreSettings;
import dev.parley.trust.TrustSettings;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a hub: those of its modules, and its own. Each record states the names, defaults, units and descriptions of its settings
 * in its method {@code read}.
 *
 * @param extensions those on the class path, with their settings
 * @param dialectsOfAgents dialects of single agents, by their name
 * @param auditsCalls whether reads and queries leave a row in the audit log, too
 */
public record HubSettings(
        ServerSettings server,
        StoreSettings store,
        TaskLimits tasks,
        TrustSettings trust,
        DialectSettings dialect,
        List<HubExtensionSource> extensions,
        @Nullable Integer adminPort,
        String adminBind,
        List<String> webhookAllow,
        Set<String> dialects,
        Map<String, Set<String>> dialectsOfAgents,
        boolean grpcOnCards,
        boolean auditsCalls) {

    /**
     * Reads all settings of a hub.
     *
     * @throws IllegalArgumentException if values do not fit together
     */
    public static HubSettings read(SettingReader in) {
        return new HubSettings(
                ServerSettings.read(in),
                StoreSettings.read(in),
                TaskLimits.read(in),
                TrustSettings.read(in),
                DialectSettings.read(in),
                AdminOperations.INSTALLED.stream()
                        .map(extension -> extension.configured(in))
                        .toList(),
                in.find(
                        PORT,
                        "admin-port",
                        "N",
                        "A separate port, the only one for operators and /metrics; 0 takes a free one."),
                in.get(
                        TEXT,
                        "admin-bind",
                        "127.0.0.1",
                        "ADDRESS",
                        "Address of that port. Addresses other than loopback need TLS and authentication, as with --bind."),
                webhookAllow(in),
                known(in.get(
                        LIST,
                        "dialects",
                        String.join(",", Dialects.NAMES),
                        "LIST",
                        "Dialects in which agents are served: " + String.join(", ", Dialects.NAMES) + ".")),
                dialectsOfAgents(in.list(
                        "agent-dialects",
                        "AGENT=A+B",
                        "Other dialects for one agent, such as echo=1.0+0.3; repeatable.",
                        REPEATABLE)),
                in.flag(
                        "grpc-on-cards",
                        "List the gRPC interface on cards. Some clients of JSON-RPC refuse such cards."),
                in.get(
                                SettingType.oneOf("changes", "all"),
                                "audit",
                                "changes",
                                "CALLS",
                                "Calls that leave a row in the audit log: changes (and refusals), or all, with reads and"
                                        + " queries.")
                        .equals("all"));
    }

    private static List<String> webhookAllow(SettingReader in) {
        var hosts = LIST.requiring(
                list -> AddressRule.allowing(list) != null, "host names, addresses, or ranges such as 10.1.0.0/16");
        List<String> allowed = in.find(
                hosts,
                "webhook-allow",
                "HOST[,HOST]",
                "Hosts that webhooks and steps of workflows may go to although they are not public.",
                REPEATABLE);
        return allowed == null ? List.of() : allowed;
    }

    private static Map<String, Set<String>> dialectsOfAgents(List<String> entries) {
        var dialects = new LinkedHashMap<String, Set<String>>();
        TrustSettings.byAgent("agent-dialects", entries).forEach((agent, names) -> dialects.put(agent, known(names)));
        return dialects;
    }

    private static Set<String> known(Collection<String> names) {
        if (names.isEmpty() || !Dialects.NAMES.containsAll(names)) {
            throw new IllegalArgumentException("dialects: " + String.join(", ", names) + " (expected: some of "
                    + String.join(", ", Dialects.NAMES) + ")");
        }
        return Set.copyOf(names);
    }
}
