package dev.parley.extension;

import dev.parley.protocol.Operation;

/**
 * An operation of the administration of a hub.
 *
 * @param <A> its answer
 */
public interface AdminCall<A> extends Operation.ExtensionCall<A> {
    /** Group of callers that have no other. */
    String DEFAULT_GROUP = "default";

    /** Name without the prefix of the administration, such as {@code keys/create}. */
    String operation();

    @Override
    default String name() {
        return AdminRow.fullName(operation());
    }
}
