package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import io.grpc.Status.Code;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KnowledgeStatusTest {
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "KNOWLEDGE_QUERY, -, INVALID_ARGUMENT",
                "KNOWLEDGE_QUERY, timeout, DEADLINE_EXCEEDED",
                "KNOWLEDGE_UPDATE, conflict, ABORTED",
                "KNOWLEDGE_UPDATE, forbidden, PERMISSION_DENIED",
                "KNOWLEDGE_SUBSCRIPTION, -, INVALID_ARGUMENT",
                "KNOWLEDGE_SUBSCRIPTION, quota, RESOURCE_EXHAUSTED",
                "ALIGNMENT_VIOLATION, -, PERMISSION_DENIED",
                "UNSUPPORTED_OPERATION, -, UNIMPLEMENTED"
            })
    void kg18ErrorsHaveTheirStatus(String name, String reason, Code code) {
        ErrorKind error = kind(name);
        var problem =
                A2AException.of(error, error.defaultMessage(), reason == null ? Map.of() : Map.of("reason", reason));

        assertThat(ExtensionRpcs.code(KnowledgeProtocol.EXTENSION.style(), problem))
                .isEqualTo(code);
    }

    private static ErrorKind kind(String name) {
        return KnowledgeProtocol.EXTENSION.errors().stream()
                .filter(error -> error.name().equals(name))
                .findFirst()
                .orElseGet(() -> A2AError.valueOf(name));
    }
}
