package dev.parley.gateway.hub;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.gateway.route.Route;
import dev.parley.gateway.upstream.UpstreamSettings.Address;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DescribedCodecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON of the options of a route by their names. A value of another type has no effect, and is not shown. */
final class RouteOptions {
    private static final List<String> TEXTS = List.of(
            Route.ADDRESS,
            Route.BINDING,
            Route.VERSION,
            Route.ENTRY,
            Route.ENTRY_GROUP,
            "connect-timeout",
            "first-byte-timeout",
            "idle-timeout",
            "total-timeout",
            "pause",
            "probe",
            "credential",
            "credential-header",
            "secret",
            "token-url",
            "client-id",
            "scope",
            "audience");

    static final List<String> NUMBERS = List.of("concurrency", "retries", "resumes", "failures");

    /** Options that are true or false; of the keys in {@link Route#TRUST}, whether there are some. */
    static final List<String> TRUTHS = List.of(Route.VERBATIM, Route.LOCAL, Route.TRUST, "deduplicates");

    private static final String REPLICAS = "replicas";

    /** A replica as an operator types it, or with its state. */
    private static final Codec<Object> REPLICA = DescribedCodecs.anyOf(
            TEXT,
            ObjectCodec.<Address>of()
                    .required("url", TEXT, Address::url)
                    .required("weight", INT, Address::weight)
                    .required("draining", BOOLEAN, Address::draining)
                    .as(v -> new Address(v.next(), v.<Integer>next(), v.<Boolean>next())));

    private static final Codec<List<Object>> ADDRESSES = Codecs.list(REPLICA);

    static final Codec<Map<String, Object>> CODEC = codec();

    private RouteOptions() {}

    private static Codec<Map<String, Object>> codec() {
        var shape = ObjectCodec.<Map<String, Object>>of();
        TEXTS.forEach(name -> shape.optional(name, TEXT, options -> text(options.get(name))));
        NUMBERS.forEach(name -> shape.optional(
                name, INT, options -> options.get(name) instanceof Number number ? (Integer) number.intValue() : null));
        TRUTHS.forEach(name ->
                shape.optional(name, BOOLEAN, options -> options.get(name) instanceof Boolean truth ? truth : null));
        return shape.optional(
                        REPLICAS,
                        ADDRESSES,
                        options -> options.get(REPLICAS) instanceof List<?> all ? List.copyOf(all) : null)
                .as(RouteOptions::options);
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }

    private static Map<String, Object> options(ObjectCodec.Values values) {
        var options = new LinkedHashMap<String, Object>();
        TEXTS.forEach(name -> put(options, name, values.next()));
        NUMBERS.forEach(name -> put(options, name, values.next()));
        TRUTHS.forEach(name -> put(options, name, values.next()));
        put(options, REPLICAS, values.next());
        return options;
    }

    private static void put(Map<String, Object> options, String name, @Nullable Object value) {
        if (value != null) {
            options.put(name, value);
        }
    }
}
