package dev.parley.registry.faces;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.EntryFilter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes are a query of ARD, or the filter of a list, with conditions that the registry has, or are refused. */
final class ArdQueryFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "{\"filter\":{\"type\":[\"application/agent-card+json\"],\"tags\":\"x\",\"metadata.a\":[1,true]}}",
                        "{\"@context\":[{\"p\":\"https://p.example/#\",\"q\":{\"@id\":\"urn:q:\"}}],"
                                + "\"filter\":{\"p:x\":\"y\",\"q:z\":[\"1\",\"2\"],\"@id\":\"urn:ai:a.b:c\"}}",
                        "type = 'application/mcp-server-card+json','x' AND createdAfter > '2026-01-01'",
                        "displayName=a,\"b, c\" and updatedAfter>=2026-01-01T00:00:00+02:00 AND updatedAfter>2027-01-01",
                        "publisherId:example.com AND publisher = 'other.example'")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void queries(byte[] bytes) {
        try {
            check(ArdQuery.ofList(Map.of("filter", new String(bytes, UTF_8))));
        } catch (A2AException refused) {
            assertThat(refused.error().httpStatus()).isEqualTo(400);
        }
        try {
            check(ArdQuery.filter(JsonText.request(bytes, Codecs.STRUCT)));
        } catch (A2AException refused) {
            assertThat(refused.error().httpStatus()).isEqualTo(400);
        }
    }

    private static void check(EntryFilter filter) {
        filter.fields().forEach((field, values) -> {
            assertThat(field)
                    .matches("(?s)id|name|type|publisher|version|tag|ability|createdAfter|updatedAfter|metadata\\..+");
            assertThat(values).isNotEmpty().hasSizeLessThanOrEqualTo(1000);
            if (List.of("createdAfter", "updatedAfter").contains(field)) {
                assertThat(values).allSatisfy(Instant::parse);
            }
        });
    }
}
