package dev.parley.registry.faces;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Outcome;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.EntryOperation.RegisterEntry;
import dev.parley.registry.ExchangeOperation.CatalogEntry;
import dev.parley.registry.ExchangeOperation.CatalogSignature;
import dev.parley.registry.ExchangeOperation.Imported;
import dev.parley.registry.trust.TrustCheck;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the entries of a catalog as registrations: manifests of ARD v0.91 and v0.9, and AI Catalogs with trust of either form. Older names
 * of members are read, too.
 */
final class CatalogReader {
    private static final int MAX_DEPTH = 4;
    private static final int MAX_ENTRIES = 1000;
    private static final int MAX_FETCHED = 100;

    /** Members of entries that are no further members. */
    private static final Set<String> KNOWN = Set.of("@context", "@id", "@type");

    private final List<Map<String, @Nullable Object>> registrations = new ArrayList<>();
    private int fetched;

    private CatalogReader() {}

    /**
     * The parameters of the registrations of all entries, those of nested catalogs included.
     *
     * @throws A2AException if it is not a catalog, or too large
     */
    static List<Map<String, @Nullable Object>> read(Map<?, ?> catalog) {
        var reader = new CatalogReader();
        reader.catalog(catalog, 1);
        return reader.registrations;
    }

    /** Returns whether an import is of a catalog, and not of a page of an export. */
    static boolean isCatalog(Map<String, @Nullable Object> body) {
        return body.get("entries") instanceof List<?> entries
                && entries.stream()
                        .anyMatch(entry -> entry instanceof Map<?, ?> each && each.containsKey("identifier"));
    }

    /**
     * Registers the entries of a catalog, which fail one by one.
     *
     * @throws A2AException if it is not a catalog, or its signature is wrong
     */
    static Imported imported(
            Map<String, @Nullable Object> body,
            CallHandler<RegisterEntry, Entry> register,
            TrustCheck trust,
            CallContext caller) {
        Map<Object, @Nullable Object> catalog = new LinkedHashMap<>(body);
        catalog.remove("visibility"); // of the request
        CatalogSignature signature = trust.ofCatalog(catalog, caller.scope().group());
        if (signature.outcome() == Outcome.TAMPERED) {
            throw A2AException.invalidParams("signature", signature.reason() + " (expected: an unchanged catalog)");
        }
        var outcomes = new ArrayList<CatalogEntry>();
        for (Map<String, @Nullable Object> registration : read(body)) {
            if (body.get("visibility") != null) {
                registration.put("visibility", body.get("visibility"));
            }
            String identifier = String.valueOf(registration.get("id"));
            try {
                RegisterEntry given = EntryOperation.REGISTER.request().fromJson(registration);
                outcomes.add(new CatalogEntry(
                        identifier, register.call(given, caller).id(), null));
            } catch (A2AException refused) {
                outcomes.add(new CatalogEntry(identifier, null, String.valueOf(refused.getMessage())));
            }
        }
        return new Imported(null, outcomes, signature);
    }

    private void catalog(Map<?, ?> catalog, int depth) {
        if (!(catalog.get("entries") instanceof List<?> entries)) {
            throw A2AException.invalidParams("entries", "missing (expected: the entries of a catalog)");
        }
        for (Object entry : entries) {
            if (!(entry instanceof Map<?, ?> members)) {
                throw A2AException.invalidParams("entries", "no object (expected: an entry)");
            }
            Object type = members.containsKey("type") ? members.get("type") : members.get("mediaType");
            if (ArdModel.CATALOG.equals(type) && members.get("data") instanceof Map<?, ?> nested) {
                if (depth == MAX_DEPTH) {
                    throw A2AException.invalidParams("entries", "nested deeper than " + MAX_DEPTH);
                }
                catalog(nested, depth + 1);
            } else {
                registrations.add(registration(members, String.valueOf(type)));
            }
        }
        if (registrations.size() > MAX_ENTRIES) {
            throw A2AException.invalidParams("entries", "more than " + MAX_ENTRIES);
        }
    }

    private Map<String, @Nullable Object> registration(Map<?, ?> members, String type) {
        var registration = new LinkedHashMap<String, @Nullable Object>();
        registration.put("id", ArdQuery.written(String.valueOf(members.get("identifier"))));
        registration.put("type", ArdQuery.aliases(type).contains(Entry.AGENT_CARD) ? Entry.AGENT_CARD : type);
        boolean hasData = members.get("data") instanceof Map<?, ?>;
        if (hasData == members.get("url") instanceof String) {
            throw A2AException.invalidParams(
                    "entries", members.get("identifier") + ": url and data (expected: one of them)");
        }
        if (hasData) {
            registration.put("card", members.get("data"));
        } else if (++fetched > MAX_FETCHED) {
            throw A2AException.invalidParams("entries", "more than " + MAX_FETCHED + " with addresses");
        } else {
            registration.put("url", members.get("url"));
        }
        Map<String, Object> metadata = metadata(members);
        if (!metadata.isEmpty()) {
            registration.put("metadata", metadata);
        }
        return registration;
    }

    /** Members of {@code metadata}, trust, and members with a prefix, by their IRIs. */
    private static Map<String, Object> metadata(Map<?, ?> members) {
        var metadata = new LinkedHashMap<String, Object>();
        if (members.get("metadata") instanceof Map<?, ?> given) {
            given.forEach((name, value) -> put(metadata, String.valueOf(name), value));
        }
        Map<String, String> prefixes = ArdQuery.prefixes(members.get("@context"));
        members.forEach((key, value) -> {
            String name = String.valueOf(key);
            int colon = name.indexOf(':');
            if (colon > 0 && !KNOWN.contains(name)) {
                String iri = prefixes.get(name.substring(0, colon));
                put(metadata, iri == null ? name : iri + name.substring(colon + 1), value);
            }
        });
        Object extended =
                members.get("extensions") instanceof Map<?, ?> extensions ? extensions.get(ArdModel.TRUST) : null;
        for (Object source : new Object[] {extended, members}) {
            if (source instanceof Map<?, ?> trust) {
                trust.forEach((name, value) -> {
                    if (String.valueOf(name).equalsIgnoreCase("trustManifest") && value instanceof Map<?, ?>) {
                        metadata.put("trustManifest", value);
                    } else if (name.equals("trustManifests") && value instanceof List<?>) {
                        metadata.put("trustManifests", value);
                    }
                });
            }
        }
        return metadata;
    }

    private static void put(Map<String, Object> metadata, String name, @Nullable Object value) {
        if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            metadata.put(name, value);
        }
    }
}
