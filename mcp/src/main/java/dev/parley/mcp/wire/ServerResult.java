package dev.parley.mcp.wire;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.ServerInfo;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Result of a method of a server, with the members that all results have. Source: MCP 2026-07-28, Results.
 *
 * @param type the kind of the result, unless the content has one of its own
 * @param ttlMillis how long its client may keep it; null if the content says nothing about that
 */
public record ServerResult<T>(
        Codec<T> codec, T content, String type, @Nullable Integer ttlMillis) {
    private static final Codec<ServerResult<?>> COMMON = ObjectCodec.<ServerResult<?>>of()
            .optional("ttlMs", Codecs.INT, ServerResult::ttlMillis)
            .optional("cacheScope", Codecs.TEXT, result -> result.ttlMillis == null ? null : "private")
            .required("resultType", Codecs.TEXT, ServerResult::type)
            .as(v -> {
                throw new UnsupportedOperationException("members without a content");
            });

    /** Member {@code _meta} of results and notifications: the server, and the request that opened their subscription. */
    public record ResultMeta(
            @Nullable Object subscriptionId, @Nullable ServerInfo serverInfo) {
        static final Codec<ResultMeta> CODEC = ObjectCodec.<ResultMeta>of()
                .optional(Meta.SUBSCRIPTION_ID, Codecs.FREE, ResultMeta::subscriptionId)
                .optional(Meta.SERVER_INFO, ServerModel.INFO, ResultMeta::serverInfo)
                .as(v -> new ResultMeta(v.next(), v.next()));
    }

    /** A result without members of its own. */
    public record Nothing() {
        public static final Codec<Nothing> CODEC = ObjectCodec.<Nothing>of().as(v -> new Nothing());
    }

    /** Part of a list; the cursor of the next one is null after the last. */
    public record Page<E>(List<E> elements, @Nullable String nextCursor) {
        public static <E> Codec<Page<E>> codec(String member, Codec<E> element) {
            return ObjectCodec.<Page<E>>of()
                    .required(member, Codecs.list(element), Page::elements)
                    .optional("nextCursor", Codecs.TEXT, Page::nextCursor)
                    .as(v -> new Page<>(v.next(), v.next()));
        }
    }

    /** Questions to the user, and the sealed state of the request that waits for the answers. */
    public record InputRequired(
            Map<String, InputRequest> requests, @Nullable String state) {
        public static final Codec<InputRequired> CODEC = ObjectCodec.<InputRequired>of()
                .always("resultType", Codecs.TEXT, "input_required", result -> "input_required")
                .optional("inputRequests", ResultModel.INPUT_REQUESTS, Map.of(), InputRequired::requests)
                .optional("requestState", Codecs.TEXT, InputRequired::state)
                .as(v -> new InputRequired(v.skip().next(), v.next()));
    }

    /** Values that complete an argument. */
    public record Completion(List<String> values, int total, boolean hasMore) {
        private static final Codec<Completion> MEMBERS = ObjectCodec.<Completion>of()
                .required("values", Codecs.TEXTS, Completion::values)
                .required("total", Codecs.INT, Completion::total)
                .required("hasMore", Codecs.BOOLEAN, Completion::hasMore)
                .as(v -> new Completion(v.next(), v.next(), v.next()));

        public static final Codec<Completion> CODEC = ObjectCodec.<Completion>of()
                .required("completion", MEMBERS, completion -> completion)
                .as(v -> v.next());
    }

    /** A complete result that its client does not keep. */
    public static <T> ServerResult<T> of(Codec<T> codec, T content) {
        return new ServerResult<>(codec, content, "complete", null);
    }

    /** This result, which its client may keep for a time. */
    public ServerResult<T> cacheable(int millis) {
        return new ServerResult<>(codec, content, type, millis);
    }

    /** The members in a session, where results have no type. */
    public Map<String, @Nullable Object> inSession() {
        Map<String, @Nullable Object> members = Trees.of(codec, content);
        members.remove("resultType");
        return members;
    }

    /** The members of the result of a request without a session. Members of the content come before those of all results. */
    public Map<String, @Nullable Object> members(ResultMeta meta) {
        Map<String, @Nullable Object> members = Trees.of(codec, content);
        Trees.of(COMMON, this).forEach(members::putIfAbsent);
        var all = new LinkedHashMap<>(Trees.map(members, "_meta"));
        Trees.of(ResultMeta.CODEC, meta).forEach(all::putIfAbsent);
        members.put("_meta", all);
        return members;
    }
}
