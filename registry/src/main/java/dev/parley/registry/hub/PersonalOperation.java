package dev.parley.registry.hub;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.extension.PersonalRead;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.registry.store.PersonalEntries.Page;
import dev.parley.registry.store.PersonalEntries.Review;
import dev.parley.registry.store.PersonalEntries.Version;
import java.util.List;
import java.util.function.Function;

/** Operations of the administration that export personal data of a registry: their requests, their answers, and a row for each. */
final class PersonalOperation {
    private PersonalOperation() {}

    /** @param after versions after so many */
    @AdminCall.Named("privacy/agentVersions")
    record ListVersions(String principal, String group, long after) implements AdminCall<Page<Version>>, PersonalRead {}

    /** @param after reviews and notes after so many */
    @AdminCall.Named("privacy/agentReviews")
    record ListReviews(String principal, String group, long after) implements AdminCall<Page<Review>>, PersonalRead {}

    private static final Codec<Version> VERSION = ObjectCodec.<Version>of()
            .required("id", TEXT, Version::id)
            .required("revision", COUNT, Version::revision)
            .required("time", TIME, Version::time)
            .required("publisher", TEXT, Version::publisher)
            .required("entry", STRUCT, Version::entry)
            .required("document", TEXT, Version::document)
            .as(v -> new Version(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Review> REVIEW = ObjectCodec.<Review>of()
            .required("id", TEXT, Review::id)
            .required("kind", Codecs.words(PersonalEntries.Kind.class), Review::kind)
            .required("time", TIME, Review::time)
            .optional("stars", COUNT, 0L, Review::stars)
            .required("text", TEXT, Review::text)
            .as(v -> new Review(v.next(), v.next(), v.next(), v.next(), v.next()));

    static final ExtensionMethod<ListVersions, Page<Version>> VERSIONS = AdminRow.of(
            ListVersions.class,
            "GET /privacy/agentVersions",
            "List the versions of the registered agents of a principal",
            ofPrincipal(ListVersions::principal, ListVersions::group, ListVersions::after)
                    .as(v -> new ListVersions(v.next(), v.next(), v.<Long>next())),
            page("agentVersions", VERSION));

    static final ExtensionMethod<ListReviews, Page<Review>> REVIEWS = AdminRow.of(
            ListReviews.class,
            "GET /privacy/agentReviews",
            "List the reviews and notes of a principal on registered agents",
            ofPrincipal(ListReviews::principal, ListReviews::group, ListReviews::after)
                    .as(v -> new ListReviews(v.next(), v.next(), v.<Long>next())),
            page("agentReviews", REVIEW));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(VERSIONS, REVIEWS);

    private static <T> ObjectCodec<Page<T>> page(String name, Codec<T> item) {
        return ObjectCodec.<Page<T>>of()
                .required(name, Codecs.list(item), Page::items)
                .optional("next", COUNT, Page::next)
                .as(v -> new Page<>(v.next(), v.next()));
    }

    private static <T> ObjectCodec.Builder<T> ofPrincipal(
            Function<T, String> principal, Function<T, String> group, Function<T, Long> after) {
        return ObjectCodec.<T>of()
                .required("principal", TEXT, principal)
                .help("NAME", "The principal.")
                .optional("group", TEXT, AdminCall.DEFAULT_GROUP, group)
                .help("GROUP", "Its group; default: default.")
                .optional("after", COUNT, 0L, after)
                .help("NUMBER", "Records after so many.");
    }
}
