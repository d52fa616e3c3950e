package dev.parley.hub.admin;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Engine;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.admin.SettingOperation.SettingView;
import dev.parley.hub.extensions.Extended;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import java.util.HashMap;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The operations of {@link AdminOperations} that have a handler, over REST. Safe for any thread. */
public final class AdminApi {
    /** What metrics and logs show in the place of an agent. No agent has this name. */
    public static final String NAME = AdminOperations.PATH;

    /** What metrics show as the dialect. */
    private static final String DIALECT = "admin";

    private static final String PRIVACY = AdminOperations.PATH + "/privacy/";

    private final ExtensionTable table;
    private final AgentEndpoint endpoint;

    private AdminApi(ExtensionTable table, AgentEndpoint endpoint) {
        this.table = table;
        this.endpoint = endpoint;
    }

    /** Handlers of a hub; {@code administration} is null if the hub keeps no members and no audit. */
    public static Handlers handlers(
            Engine engine,
            WebhookSecrets secrets,
            Hubs hubs,
            @Nullable Administration administration,
            List<SettingView> settings,
            List<HubExtension> opened) {
        Handlers handlers = new DeadWebhooks(requireNonNull(engine.deliveries().orElse(null)), secrets)
                .handlers()
                .call(SettingOperation.LIST, (list, by) -> settings)
                .and(hubs.handlers())
                .call(WebhookOperation.UNREADABLE, (list, by) -> engine.unreadable())
                .and(new PrivacyPages(engine, opened, administration).handlers());
        return administration == null ? handlers : handlers.and(administration.handlers());
    }

    /**
     * Operations with these handlers.
     *
     * @param extensions sources of the extensions that are opened
     * @param recorded decorates endpoints of operations that change something
     * @param before decorates the endpoint of all of them
     */
    public static AdminApi of(
            Handlers handlers,
            List<HubExtensionSource> extensions,
            UnaryOperator<AgentEndpoint> recorded,
            UnaryOperator<AgentEndpoint> before) {
        var endpoints = new HashMap<>(handlers.byName());
        endpoints.replaceAll((name, endpoint) -> AdminOperations.changes(name) ? recorded.apply(endpoint) : endpoint);
        return new AdminApi(
                new ExtensionTable(List.of(AdminOperations.protocol(endpoints.keySet(), extensions))),
                before.apply(new Extended(null, endpoints, false)));
    }

    /** Operations with these handlers, and nothing before them. */
    static AdminApi of(Handlers handlers) {
        return of(handlers, List.of(), UnaryOperator.identity(), UnaryOperator.identity());
    }

    /** The rows. */
    public ExtensionTable table() {
        return table;
    }

    /**
     * Answers a request.
     *
     * @throws A2AException if it is refused
     */
    public WireAnswer answer(WireRequest request, CallContext operator) {
        if (request.path().startsWith(PRIVACY)) {
            requireOwnSite(request.arrival());
        }
        return table.answer(request, operator.withDialect(DIALECT, false), endpoint);
    }

    /**
     * Refuses what a page of another site has a browser send. Such a page cannot read the answer, but the request would leave a
     * row in the audit as if an operator had asked.
     */
    private static void requireOwnSite(RequestHead arrival) {
        String site = arrival.header("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin") && !site.equals("none")) {
            throw A2AException.of(
                    A2AError.PERMISSION_DENIED,
                    "Pages of other sites may not call (expected: Sec-Fetch-Site: same-origin)");
        }
    }
}
