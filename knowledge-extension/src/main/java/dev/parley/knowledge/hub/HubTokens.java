package dev.parley.knowledge.hub;

import dev.parley.extension.HubParts;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Verifies tokens in metadata as those of the hub and its issuers. Each has to be of a principal of the group whose data is used. */
record HubTokens(HubParts hub) implements KnowledgeTokenVerifier {
    @Override
    public void verify(KnowledgeOperation operation, Map<String, @Nullable Object> tokens, CallContext caller) {
        tokens.forEach((name, value) -> {
            if (!(value instanceof String token) || token.isBlank()) {
                throw A2AException.invalidParams("metadata." + name, "is no token (expected: a string)");
            }
            CallContext owner = hub.identify(token)
                    .orElseThrow(() -> A2AException.of(
                            A2AError.UNAUTHENTICATED,
                            "metadata." + name + ": the token is not known, or no longer good"));
            if (!owner.scope().group().equals(caller.scope().group())) {
                throw A2AException.of(
                        A2AError.PERMISSION_DENIED, "metadata." + name + ": the token is of another group");
            }
        });
    }
}
