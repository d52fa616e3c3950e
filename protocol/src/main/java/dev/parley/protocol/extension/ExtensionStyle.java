package dev.parley.protocol.extension;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Differences between an extension and A2A 1.0 on the wire. Everything has a default, which is as A2A 1.0 has it; only extensions
 * whose specification says otherwise override any of it. Stateless.
 */
public interface ExtensionStyle {
    /** As A2A 1.0 has it. */
    ExtensionStyle A2A = new ExtensionStyle() {};

    /** Header of a stream's answer that holds its {@linkplain dev.parley.protocol.Feed#position position}; metadata in lower case over gRPC. */
    default String positionHeader() {
        return "Stream-Position";
    }

    /** Bytes that a request may have; the limit of the server holds as well. */
    default int maxRequestBytes() {
        return Integer.MAX_VALUE;
    }

    /** Headers that keep intermediaries from storing a stream. */
    default String cacheControl() {
        return "no-store";
    }

    /** The error as the caller sees it. */
    default A2AException shown(A2AException problem) {
        return problem;
    }

    /** The HTTP status of an error over REST; empty for that of A2A. */
    default Optional<Integer> restStatus(A2AException problem) {
        return Optional.empty();
    }

    /**
     * The HTTP status of an error over JSON-RPC; empty for that of A2A.
     *
     * @param stream whether the operation streams
     */
    default Optional<Integer> rpcStatus(A2AException problem, boolean stream) {
        return Optional.empty();
    }

    /**
     * The member {@code data} of an error over JSON-RPC; empty for that of A2A. {@code Map.of()} stands for null.
     *
     * @param activated whether the request activates the extension
     */
    default Optional<Map<String, @Nullable Object>> rpcErrorData(A2AException problem, boolean activated) {
        return Optional.empty();
    }

    /** The name of the gRPC status of an error; empty for that of A2A. */
    default Optional<String> grpcStatus(A2AException problem) {
        return Optional.empty();
    }

    /**
     * Whether the events of a stream over JSON-RPC carry ids.
     *
     * @param activated whether the request activates the extension
     */
    default boolean numbersRpcEvents(boolean activated) {
        return true;
    }

    /**
     * Members of the capabilities that tell of the extension in cards of the first version of A2A, which knew no list of extensions.
     *
     * @param entry the extension on the card; null if the agent does not have it
     */
    default Map<String, @Nullable Object> flags(AgentCard.@Nullable Extension entry) {
        return Map.of();
    }

    /**
     * The entry that further members of a card's capabilities stand for; empty if they do not tell of the extension.
     *
     * @throws InvalidField if one of the extension's members has a wrong type
     */
    default Optional<AgentCard.Extension> ofFlags(Map<String, @Nullable Object> flags) {
        return Optional.empty();
    }

    /**
     * Address of an operation over REST.
     *
     * @param entry the extension on the agent's card
     * @param agent address of the agent
     * @param path of the operation
     */
    default String restUrl(AgentCard.Extension entry, String agent, String path) {
        return agent + path;
    }

    /**
     * Refuses an operation that the card of an agent does not offer, before it is sent.
     *
     * @throws A2AException UNSUPPORTED_OPERATION
     */
    default void requireOffered(Operation.Extension operation, AgentCard.Extension entry, AgentCard card) {}
}
