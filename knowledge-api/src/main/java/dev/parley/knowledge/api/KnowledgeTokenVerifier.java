package dev.parley.knowledge.api;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the security tokens that a knowledge operation carries in its metadata: the members {@code token}, {@code
 * authorization} and those whose names begin with {@code credential}.
 *
 * <p>Tokens can narrow what a caller may do, by a refusal. They never widen it: the transport identifies the caller.
 */
@FunctionalInterface
public interface KnowledgeTokenVerifier {
    /**
     * Verifies the tokens of an operation, before anything is done. Called for operations that carry some, by any thread; it
     * may block, within the time of the call.
     *
     * @param operation without its tokens
     * @throws A2AException to refuse the operation: UNAUTHENTICATED or PERMISSION_DENIED, for instance
     */
    void verify(KnowledgeOperation operation, Map<String, @Nullable Object> tokens, CallContext caller);
}
