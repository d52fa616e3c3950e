package dev.parley.gateway.hub;

import dev.parley.extension.HubParts;
import dev.parley.gateway.route.Route;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryOperation.ShowEntry;
import dev.parley.registry.RegistryProtocol;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Addresses of remote agents: URLs, and entries of the registry of the hub. */
record Addresses(HubParts hub) {
    private static final String REGISTRY = "registry:";

    /** Whether an address names an entry of the registry. */
    static boolean isEntry(String url) {
        return url.startsWith(REGISTRY);
    }

    /** Whether a text is an http or https URL, or names an entry of the registry. */
    static boolean isAddress(String text) {
        try {
            return isEntry(text) || !origin(text).toString().isEmpty();
        } catch (A2AException wrong) {
            return false;
        }
    }

    static URI origin(String url) {
        try {
            URI uri = URI.create(url);
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            if (uri.getHost() == null
                    || uri.getUserInfo() != null
                    || !scheme.equals("http") && !scheme.equals("https")) {
                throw new IllegalArgumentException("no http or https URL");
            }
            return URI.create(scheme + "://" + uri.getRawAuthority());
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams("url", url + ": " + wrong.getMessage());
        }
    }

    /** Scheme, host and port that calls of a route go to. */
    static URI called(Route route) {
        String address = route.option(Route.ADDRESS);
        return origin(address.isEmpty() ? route.url() : address);
    }

    /** The address of an agent: that of an entry of the registry of this hub, or the address itself. */
    String resolve(String url, CallContext caller) {
        if (!isEntry(url)) {
            return url;
        }
        Entry entry = hub.agents()
                .endpoint(RegistryProtocol.AGENT)
                .call(new ShowEntry(url.substring(REGISTRY.length())), caller)
                .entry();
        Stream<String> endpoints = entry.resource().endpoints().stream().map(Entry.Endpoint::url);
        return Stream.concat(Stream.ofNullable(entry.resource().url()), endpoints)
                .filter(address -> address.startsWith("http"))
                .findFirst()
                .orElseThrow(() -> A2AException.invalidParams("url", url + ": the entry has no http address"));
    }

    /** Options of a route to an entry of the registry; none for other addresses. */
    Map<String, Object> entry(String url, CallContext caller) {
        return isEntry(url)
                ? Map.of(
                        Route.ENTRY,
                        url.substring(REGISTRY.length()),
                        Route.ENTRY_GROUP,
                        caller.scope().group())
                : Map.of();
    }

    /** Refuses calls of an agent whose entry is not in the registry any more, or names another address, as when a peer was cut. */
    void requireListed(Route route) {
        String entry = route.option(Route.ENTRY);
        if (entry.isEmpty()) {
            return;
        }
        var reader = CallContext.of("gateway", new Scope(route.option(Route.ENTRY_GROUP), "gateway"));
        String address;
        try {
            address = resolve(REGISTRY + entry, reader);
        } catch (A2AException gone) {
            if (gone.error() == A2AError.UNAVAILABLE) {
                throw gone;
            }
            throw A2AException.of(
                            A2AError.UNAVAILABLE,
                            "The agent \"" + route.name() + "\" is no longer in the registry of the hub")
                    .causedBy(gone);
        }
        if (!address.equals(route.url())) {
            throw A2AException.of(
                    A2AError.UNAVAILABLE,
                    "The registry of the hub has another address for the agent \"" + route.name()
                            + "\" (expected: an operator adds the route again)");
        }
    }
}
