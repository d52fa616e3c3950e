package dev.parley.extension;

import dev.parley.protocol.Operation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An operation of the administration of a hub: a record with its {@link Named name}.
 *
 * @param <A> its answer
 */
public interface AdminCall<A> extends Operation.ExtensionCall<A> {
    /** Group of callers that have no other. */
    String DEFAULT_GROUP = "default";

    /** Names an operation of the administration. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Named {
        /** Name without the prefix of the administration, such as {@code keys/create}. */
        String value();
    }

    @Override
    default String name() {
        return AdminRow.fullName(AdminRow.named(getClass()));
    }
}
