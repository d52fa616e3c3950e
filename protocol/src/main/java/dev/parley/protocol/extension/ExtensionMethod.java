package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.Operation;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One operation of an extension on the wire: a row of the tables of JSON-RPC, REST, gRPC and messages. Servers and clients go by
 * these rows. Immutable.
 *
 * @param <O> the operation
 * @param <A> its answer, or each element of its stream
 */
public final class ExtensionMethod<O extends Operation.Extension, A> {
    /** Addresses: REST methods and path, empty for none, and what describes them; gRPC method; media type of a document. */
    private record Places(
            String rest,
            @Nullable String grpc,
            @Nullable String mediaType,
            @Nullable RestDescription description) {
        static final Places NONE = new Places("", null, null, null);
    }

    /** Functions of a stream's ids, of tasks, and of an answer's free data. */
    private record Traits<O, A>(
            Function<A, @Nullable String> id,
            BiFunction<O, String, O> after,
            Predicate<O> fromPosition,
            Predicate<A> last,
            BiFunction<O, String, O> ofTask,
            Function<A, @Nullable Object> content) {
        static <O, A> Traits<O, A> none() {
            return new Traits<>(
                    element -> null,
                    (operation, id) -> operation,
                    operation -> true,
                    element -> false,
                    (operation, task) -> operation,
                    answer -> answer);
        }
    }

    private final Class<O> type;
    private final String name;
    private final boolean streams;
    private final JsonForm<O> request;
    private final JsonForm<A> answer;
    private final Places places;
    private final Traits<O, A> traits;

    private ExtensionMethod(
            Class<O> type,
            String name,
            boolean streams,
            JsonForm<O> request,
            JsonForm<A> answer,
            Places places,
            Traits<O, A> traits) {
        this.type = requireNonNull(type, "type");
        this.name = requireNonNull(name, "name");
        this.streams = streams;
        this.request = requireNonNull(request, "request");
        this.answer = requireNonNull(answer, "answer");
        this.places = places;
        this.traits = traits;
    }

    /**
     * An operation with one answer, called over JSON-RPC and inside messages under its name.
     *
     * @param name as {@link Operation#name} of the operation returns it
     */
    public static <A, O extends Operation.ExtensionCall<A>> ExtensionMethod<O, A> call(
            String name, Class<O> type, JsonForm<O> request, JsonForm<A> answer) {
        return new ExtensionMethod<>(type, name, false, request, answer, Places.NONE, Traits.none());
    }

    /**
     * An operation with a stream as its answer, called over JSON-RPC and inside messages under its name.
     *
     * @param name as {@link Operation#name} of the operation returns it
     */
    public static <A, O extends Operation.ExtensionWatch<A>> ExtensionMethod<O, A> stream(
            String name, Class<O> type, JsonForm<O> request, JsonForm<A> element) {
        return new ExtensionMethod<>(type, name, true, request, element, Places.NONE, Traits.none());
    }

    /**
     * A text that is read by a GET only, such as a schema. Its operation may have the name of another one, with which it is then
     * authorized, counted and traced.
     *
     * @param path below the agent's address
     */
    public static <O extends Operation.ExtensionCall<String>> ExtensionMethod<O, String> document(
            String name, Class<O> type, JsonForm<O> request, String path, String mediaType) {
        requireNonNull(mediaType, "mediaType");
        return new ExtensionMethod<>(
                type, name, false, request, TEXT, new Places("GET " + path, null, mediaType, null), Traits.none());
    }

    private static final JsonForm<String> TEXT = new JsonForm<>() {
        @Override
        public String fromJson(@Nullable Object json) {
            return String.valueOf(json);
        }

        @Override
        public Object toJson(String value) {
            return value;
        }
    };

    /**
     * This operation also over REST.
     *
     * @param methodsAndPath such as {@code GET,POST /numbers/{from}}, below the agent's address; clients use the first method.
     *     Variables of the path, parameters of the query (of a GET) and members of the body are members of the request
     */
    public ExtensionMethod<O, A> rest(String methodsAndPath) {
        if (!methodsAndPath.matches("[A-Z]+(,[A-Z]+)* /.+")) {
            throw new IllegalArgumentException(
                    "operation " + name + ": REST \"" + methodsAndPath + "\" (expected: METHOD /path)");
        }
        return with(new Places(methodsAndPath, places.grpc, places.mediaType, places.description));
    }

    /** Whether requests of a method of HTTP have a body, in which the members of a request are then, and not in the query. */
    public static boolean hasBody(String method) {
        return !List.of("GET", "HEAD", "DELETE").contains(method);
    }

    /**
     * Returns this operation, which has a place over REST, with the description that its forms give: variables of the path, then members of
     * the body, or of the query if the first method has no body.
     *
     * @throws IllegalStateException if a member of the request is not described
     */
    public ExtensionMethod<O, A> described(String summary) {
        boolean hasBody = hasBody(places.rest.split("[, ]", 2)[0]);
        List<RestParameter> parameters = request.parameters().stream()
                .map(one -> places.rest.contains("{" + one.name() + "}")
                        ? one.in(RestParameter.Place.PATH).asRequired()
                        : hasBody ? one : one.in(RestParameter.Place.QUERY))
                .toList();
        return with(new Places(places.rest, places.grpc, places.mediaType, new RestDescription(summary, parameters)));
    }

    /**
     * This operation also over gRPC. Messages are {@code google.protobuf.Struct}, unless the extension registers messages of its own
     * with the gRPC binding.
     *
     * @param method full name, such as {@code sample.v1.Sample/Greet}
     */
    public ExtensionMethod<O, A> grpc(String method) {
        if (!method.matches("[A-Za-z0-9_.]+/[A-Za-z0-9_]+")) {
            throw new IllegalArgumentException(
                    "operation " + name + ": gRPC \"" + method + "\" (expected: package.Service/Method)");
        }
        return with(new Places(places.rest, method, places.mediaType, places.description));
    }

    /**
     * This stream with ids of its elements, which server-sent events carry, so that a client can resume it.
     *
     * @param id id of an element; null for one after which the stream cannot be resumed
     * @param after the operation that resumes the stream after the element with an id
     */
    public ExtensionMethod<O, A> resumable(Function<A, @Nullable String> id, BiFunction<O, String, O> after) {
        return with(new Traits<>(
                requireNonNull(id, "id"),
                requireNonNull(after, "after"),
                traits.fromPosition,
                traits.last,
                traits.ofTask,
                traits.content));
    }

    /** This stream with a condition for its last element. After it, a client does not resume a stream that ends. */
    public ExtensionMethod<O, A> endingWith(Predicate<A> last) {
        return with(new Traits<>(
                traits.id,
                traits.after,
                traits.fromPosition,
                requireNonNull(last, "last"),
                traits.ofTask,
                traits.content));
    }

    /** Sets the condition for resuming the stream after its position if it is cut before its first element; otherwise it begins anew. */
    public ExtensionMethod<O, A> fromPositionIf(Predicate<O> condition) {
        return with(new Traits<>(
                traits.id,
                traits.after,
                requireNonNull(condition, "condition"),
                traits.last,
                traits.ofTask,
                traits.content));
    }

    /** Sets the function that makes an operation part of the task of the message that carries it. */
    public ExtensionMethod<O, A> ofTask(BiFunction<O, String, O> ofTask) {
        return with(new Traits<>(
                traits.id,
                traits.after,
                traits.fromPosition,
                traits.last,
                requireNonNull(ofTask, "ofTask"),
                traits.content));
    }

    /** Returns this operation with a function that returns the free data of an answer, which determines how much work it is to write. */
    public ExtensionMethod<O, A> content(Function<A, @Nullable Object> content) {
        return with(new Traits<>(
                traits.id,
                traits.after,
                traits.fromPosition,
                traits.last,
                traits.ofTask,
                requireNonNull(content, "content")));
    }

    private ExtensionMethod<O, A> with(Places other) {
        return new ExtensionMethod<>(type, name, streams, request, answer, other, traits);
    }

    private ExtensionMethod<O, A> with(Traits<O, A> other) {
        return new ExtensionMethod<>(type, name, streams, request, answer, places, other);
    }

    /** Class of the operation. */
    public Class<O> type() {
        return type;
    }

    /** Name in the extension's specification: the JSON-RPC method, and the key of policies, metrics, traces and the audit. */
    public String name() {
        return name;
    }

    /** True if the answer is a stream. */
    public boolean streams() {
        return streams;
    }

    /** Form of the request. */
    public JsonForm<O> request() {
        return request;
    }

    /** Form of the answer, or of each element of the stream. */
    public JsonForm<A> answer() {
        return answer;
    }

    /** HTTP methods and path of the REST binding; empty if it has none. */
    public String rest() {
        return places.rest;
    }

    /** Description of request and answer over REST; null if there is none. */
    public @Nullable RestDescription description() {
        return places.description;
    }

    /** Full name of the gRPC method; null if it has none. */
    public @Nullable String grpc() {
        return places.grpc;
    }

    /** Media type of a {@link #document}; null for answers in JSON. */
    public @Nullable String mediaType() {
        return places.mediaType;
    }

    /** Free data of an answer. */
    public @Nullable Object contentOf(A answer) {
        return traits.content.apply(answer);
    }

    /** Id of an element of the stream; null if it has none. */
    public @Nullable String id(A element) {
        return traits.id.apply(element);
    }

    /** Whether the stream ends after an element. */
    public boolean isLast(A element) {
        return traits.last.test(element);
    }

    /** The operation that resumes {@code operation} after the element with that id. */
    public O after(O operation, String id) {
        return traits.after.apply(operation, id);
    }

    /** Whether {@code operation} is resumed after its stream's position if it is cut before the first element. */
    public boolean resumesFromPosition(O operation) {
        return traits.fromPosition.test(operation);
    }

    /** The operation as part of the task of the message that carries it. */
    public O ofTask(O operation, String taskId) {
        return traits.ofTask.apply(operation, taskId);
    }
}
