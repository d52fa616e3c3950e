package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIMESTAMP;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.Entry.Cause;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.HealthStatus;
import dev.parley.registry.Entry.Outcome;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.Skill;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.TeeOutcome;
import dev.parley.registry.Entry.Trust;
import dev.parley.registry.Entry.Visibility;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * JSON of entries: one flat object, in which {@code trust} and {@code health} are objects of their own. A word that a newer registry has is
 * read as the constant that promises least, so that its agent is not used or trusted by mistake.
 */
public final class EntryModel {
    private static final Codec<Skill> SKILL = ObjectCodec.<Skill>of()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .optional("description", TEXT, "", Skill::description)
            .optional("tags", TEXTS, List.of(), Skill::tags)
            .optional("examples", TEXTS, List.of(), Skill::examples)
            .as(v -> new Skill(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Endpoint> ENDPOINT = ObjectCodec.<Endpoint>of()
            .required("url", TEXT, Endpoint::url)
            .required("binding", TEXT, Endpoint::binding)
            .required("dialect", TEXT, Endpoint::dialect)
            .as(v -> new Endpoint(v.next(), v.next(), v.next()));

    private static final Codec<Trust> TRUST = ObjectCodec.<Trust>of()
            .required("outcome", Codecs.words(Outcome.class, Outcome.UNVERIFIABLE), Trust::outcome)
            .optional("reason", TEXT, "", Trust::reason)
            .optional("checked", TIMESTAMP, Trust::checked)
            .optional("tee", TEXT, Trust::tee)
            .optional("teeOutcome", Codecs.words(TeeOutcome.class, TeeOutcome.UNVERIFIED), Trust::teeOutcome)
            .optional("teeReason", TEXT, Trust::teeReason)
            .as(v -> new Trust(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** Milliseconds; -1 for none. */
    static final Codec<Long> LATENCY = Codecs.number(-1, Long.MAX_VALUE);

    static final Codec<HealthStatus> HEALTH_STATUS = Codecs.words(HealthStatus.class, HealthStatus.UNKNOWN);

    static final Codec<Cause> CAUSE = Codecs.words(Cause.class, Cause.NONE);

    private static final Codec<Health> HEALTH = ObjectCodec.<Health>of()
            .required("status", HEALTH_STATUS, Health::status)
            .required("cause", CAUSE, Health::cause)
            .optional("reason", TEXT, "", Health::reason)
            .optional("since", TIMESTAMP, Health::since)
            .optional("latencyMillis", LATENCY, -1L, Health::latencyMillis)
            .as(v -> new Health(v.next(), v.next(), v.next(), v.next(), v.next()));

    static final Codec<Visibility> VISIBILITY = Codecs.words(Visibility.class);

    /** JSON of an entry. */
    public static final ObjectCodec<Entry> ENTRY = ObjectCodec.<Entry>of()
            .named("RegistryEntry")
            .required("id", TEXT, Entry::id)
            .required("type", TEXT, entry -> entry.resource().type())
            .required("name", TEXT, entry -> entry.resource().name())
            .optional("description", TEXT, "", entry -> entry.resource().description())
            .optional("version", TEXT, "", entry -> entry.resource().version())
            .optional("humanId", TEXT, entry -> entry.resource().humanId())
            .optional("url", TEXT, entry -> entry.resource().url())
            .required("digest", TEXT, entry -> entry.resource().digest())
            .optional("provider", TEXT, entry -> entry.resource().provider())
            .optional(
                    "skills",
                    Codecs.list(SKILL),
                    List.of(),
                    entry -> entry.resource().skills())
            .optional("tags", TEXTS, List.of(), entry -> entry.resource().tags())
            .optional(
                    "capabilities", TEXTS, List.of(), entry -> entry.resource().capabilities())
            .optional(
                    "endpoints",
                    Codecs.list(ENDPOINT),
                    List.of(),
                    entry -> entry.resource().endpoints())
            .optional("schemes", TEXTS, List.of(), entry -> entry.resource().schemes())
            .optional("metadata", STRUCT, Map.of(), entry -> entry.resource().metadata())
            .required("group", TEXT, entry -> entry.ownership().group())
            .required("owner", TEXT, entry -> entry.ownership().principal())
            .required("visibility", VISIBILITY, entry -> entry.ownership().visibility())
            .required("trust", TRUST, Entry::trust)
            .required("health", HEALTH, Entry::health)
            .required(
                    "status",
                    Codecs.words(Status.class, Status.EXPIRED),
                    entry -> entry.state().status())
            .required("revision", INT, entry -> entry.state().revision())
            .required("change", COUNT, entry -> entry.state().change())
            .required("created", TIMESTAMP, entry -> entry.state().created())
            .required("updated", TIMESTAMP, entry -> entry.state().updated())
            .optional("leaseUntil", TIMESTAMP, entry -> entry.state().leaseUntil())
            .optional("lookAlikes", TEXTS, List.of(), Entry::lookAlikes)
            .as(EntryModel::entry);

    private EntryModel() {}

    private static Entry entry(ObjectCodec.Values v) {
        String id = v.next();
        var resource = new Resource(
                v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                v.next(), v.next(), v.next(), v.next());
        var ownership = new Ownership(v.next(), v.next(), v.next());
        return new Entry(
                id,
                resource,
                ownership,
                v.next(),
                v.next(),
                new State(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()),
                v.next());
    }

    /** JSON bytes of an entry, as the tables of a registry hold them. */
    public static byte[] write(Entry entry) {
        return JsonText.write(ENTRY, entry);
    }

    public static Entry read(byte[] json) {
        return JsonText.read(json, ENTRY);
    }

    /** The word of a constant on the wire and in tables, such as {@code card-drift}. */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The constant with a word; {@code other} for a word of a newer registry. */
    public static <E extends Enum<E>> E constant(Class<E> type, String word, E other) {
        return Stream.of(type.getEnumConstants())
                .filter(each -> word(each).equals(word))
                .findFirst()
                .orElse(other);
    }
}
