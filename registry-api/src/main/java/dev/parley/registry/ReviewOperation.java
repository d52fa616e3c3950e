package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations on reviews, notes and selective views of an entry: their requests, their answers, and a row for each. */
public final class ReviewOperation {
    private static final int MOST_STARS = 5;

    private ReviewOperation() {}

    /** @param stars 1 to 5; 0 removes the review of the caller */
    @RegistryCall.Named("registry/review")
    public record ReviewEntry(String id, long stars, String text) implements RegistryCall<ReviewList> {}

    /** @param text blank to remove the note of the caller */
    @RegistryCall.Named("registry/note")
    public record NoteEntry(String id, String text) implements RegistryCall<ReviewList> {}

    @RegistryCall.Named("registry/reviews")
    public record ListReviews(String id) implements RegistryCall<ReviewList> {}

    /**
     * Reviews of an entry, the newest first.
     *
     * @param count number of all reviews
     * @param average of their stars; 0 without any
     * @param notes of the caller's group
     */
    public record ReviewList(long count, double average, List<Review> reviews, List<Review> notes) {}

    /** @param stars 1 to 5; 0 for a note */
    public record Review(String principal, long stars, String text, Instant time) {}

    @RegistryCall.Named("registry/views")
    public record ShowViews(String id) implements RegistryCall<Map<String, View>> {}

    /** @param views by name, the most specific first; empty to show all of the document to all readers */
    @RegistryCall.Named("registry/views/set")
    public record SetViews(String id, Map<String, View> views) implements RegistryCall<Map<String, View>> {}

    /**
     * A selective view of a document. Values of a condition are alternatives, and all conditions that are given must hold.
     *
     * @param groups of readers; null for any
     * @param scopes of which a reader has one; null for any
     * @param principals names of readers; null for any
     * @param addresses ranges such as {@code 10.0.0.0/8}; null for any
     * @param skills ids of the skills that it shows; null for all
     * @param endpoints URLs or bindings of the interfaces that it shows; null for all
     * @param hide names of members of the document that it leaves out
     */
    public record View(
            @Nullable List<String> groups,
            @Nullable List<String> scopes,
            @Nullable List<String> principals,
            @Nullable List<String> addresses,
            @Nullable List<String> skills,
            @Nullable List<String> endpoints,
            List<String> hide) {}

    private static final Codec<Review> REVIEW_JSON = ObjectCodec.<Review>of()
            .required("principal", TEXT, Review::principal)
            .optional("stars", COUNT, 0L, Review::stars)
            .required("text", TEXT, Review::text)
            .required("time", TIME, Review::time)
            .as(v -> new Review(v.next(), v.<Long>next(), v.next(), v.next()));

    private static final Codec<ReviewList> LIST = ObjectCodec.<ReviewList>of()
            .named("RegistryReviews")
            .required("count", COUNT, ReviewList::count)
            .required("average", DOUBLE, ReviewList::average)
            .required("reviews", Codecs.list(REVIEW_JSON), ReviewList::reviews)
            .required("notes", Codecs.list(REVIEW_JSON), ReviewList::notes)
            .as(v -> new ReviewList(v.<Long>next(), v.<Double>next(), v.next(), v.next()));

    private static final Codec<View> VIEW = ObjectCodec.<View>of()
            .optional("groups", TEXTS, View::groups)
            .optional("scopes", TEXTS, View::scopes)
            .optional("principals", TEXTS, View::principals)
            .optional("addresses", TEXTS, View::addresses)
            .optional("skills", TEXTS, View::skills)
            .optional("endpoints", TEXTS, View::endpoints)
            .optional("hide", TEXTS, List.of(), View::hide)
            .as(v -> new View(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()))
            .closed();

    /** JSON of views by name, as the tables of a registry hold them, too. */
    public static final Codec<Map<String, View>> VIEWS_JSON = Codecs.map(VIEW);

    private static final ObjectCodec<Map<String, View>> ANSWER = ObjectCodec.<Map<String, View>>of()
            .required("views", VIEWS_JSON, views -> views)
            .as(v -> v.next());

    public static final ExtensionMethod<ReviewEntry, ReviewList> REVIEW = RegistryCall.row(
            ReviewEntry.class,
            "POST /agents/{id}:review",
            "Review an entry, in place of an earlier review of the caller",
            EntryOperation.ofEntry(ReviewEntry::id)
                    .required("stars", Codecs.number(0, MOST_STARS), ReviewEntry::stars)
                    .help("STARS", "1 to 5; 0 removes the review.")
                    .optional("text", TEXT, "", ReviewEntry::text)
                    .help("TEXT", "Text of the review.")
                    .as(v -> new ReviewEntry(v.next(), v.<Long>next(), v.next())),
            LIST);

    public static final ExtensionMethod<NoteEntry, ReviewList> NOTE = RegistryCall.row(
            NoteEntry.class,
            "POST /agents/{id}:note",
            "Write a note for the group of the caller; an empty one removes it",
            EntryOperation.ofEntry(NoteEntry::id)
                    .required("text", TEXT, NoteEntry::text)
                    .help("TEXT", "Text of the note.")
                    .as(v -> new NoteEntry(v.next(), v.next())),
            LIST);

    public static final ExtensionMethod<ListReviews, ReviewList> REVIEWS = RegistryCall.row(
            ListReviews.class,
            "GET /agents/{id}/reviews",
            "List reviews, and notes of the caller's group",
            EntryOperation.ofEntry(ListReviews::id).as(v -> new ListReviews(v.next())),
            LIST);

    public static final ExtensionMethod<ShowViews, Map<String, View>> VIEWS = RegistryCall.row(
            ShowViews.class,
            "GET /agents/{id}/views",
            "Show the selective views of an entry to its owner",
            EntryOperation.ofEntry(ShowViews::id).as(v -> new ShowViews(v.next())),
            ANSWER);

    public static final ExtensionMethod<SetViews, Map<String, View>> SET_VIEWS = RegistryCall.row(
            SetViews.class,
            "PUT /agents/{id}/views",
            "Set the selective views of an entry",
            EntryOperation.ofEntry(SetViews::id)
                    .required("views", VIEWS_JSON, SetViews::views)
                    .help("OBJECT", "Views by name, the most specific first.")
                    .as(v -> new SetViews(v.next(), v.next())),
            ANSWER);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(REVIEW, NOTE, REVIEWS, VIEWS, SET_VIEWS);
}
