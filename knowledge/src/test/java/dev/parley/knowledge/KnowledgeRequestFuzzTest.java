package dev.parley.knowledge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is sent to a graph, patches or questions, it is done, answered, or refused in the words of the extension. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KnowledgeRequestFuzzTest {
    private static final Map<String, String> HEADERS =
            Map.of("content-type", "application/json", "a2a-version", CallContext.V1);
    private static final AgentCard CARD = new AgentCard(
            "agent",
            "",
            List.of(new AgentCard.Interface("http://localhost", "JSONRPC", null, "1.0")),
            null,
            "1",
            null,
            new AgentCard.Capabilities(true, null, List.of(), null),
            Map.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            null);

    private final Dialects dialects = new Dialects(DialectSettings.DEFAULTS);
    private Graph graph;
    private ServedAgent agent;

    @BeforeAll
    void open(@TempDir Path directory) {
        graph = Graph.open(directory);
        agent = new ServedAgent(
                "agent",
                graph.endpoint(),
                ServedCard.unsigned(CARD),
                Dialects.NAMES,
                new ExtensionTable(List.of(KnowledgeProtocol.EXTENSION)));
    }

    @AfterAll
    void close() {
        graph.close();
    }

    static Stream<byte[]> examples() {
        String statement =
                "{'subject':{'id':'ex:a','type':'ex:T'},'predicate':{'id':'rdf:type'},'object':{'id':'ex:T'},"
                        + "'graph':'ex:g','certainty':0.5,'provenance':{'source':'s'}}";
        String value =
                "{'subject':{'id':'_:b'},'predicate':{'id':'ex:p'},'object':{'value':1.50,'type':'xsd:decimal'}}";
        return Stream.of(
                        "update','params':{'mutations':[{'op':'add','statement':" + statement
                                + "},{'op':'replace','statement':" + value + "},{'op':'remove','statement':" + value
                                + "}],'sourceAgentId':'x','justification':'y','taskId':'t','metadata':{'ifRevision':7}}}",
                        "update','params':{'sparql':'DELETE { ?s ?p ?o } INSERT { ?s ex:q ?o } WHERE { ?s ?p ?o }'}}",
                        "query','params':{'query':'{ statements(first: 2) { nodes { predicate } }"
                                + " }','requiredCertainty':0.4,"
                                + "'maxAgeSeconds':60,'variables':{'a':[1,null]},'metadata':{'includePending':true}}}",
                        "query','params':{'queryLanguage':'sparql','query':'SELECT * { ?s ?p ?o }','variables':{'s':"
                                + "{'id':'ex:a'}}}}",
                        "subscribe','params':{'subscriptionQuery':'subscription { knowledgeChanged(filter: {subjects:"
                                + " [\\'ex:a\\']}) { op changeId } }','metadata':{'afterChangeId':'x','snapshot':true}}}")
                .map(rest -> "{'jsonrpc':'2.0','id':1,'method':'knowledge/" + rest)
                .map(json -> json.replace('\'', '"').getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void requests(byte[] body) {
        var request = new WireRequest("POST", "", Map.of(), KnowledgeRequestFuzzTest::header, body, "127.0.0.1");
        switch (dialects.answer(request, agent, CallContext.anonymous())) {
            case WireAnswer.Events events -> events.frames().close();
            case WireAnswer.Whole whole -> {
                assertThat(whole.status()).isNotEqualTo(500);
                assertThat(new String(whole.body(), UTF_8)).doesNotContain("(reference ", "-32603");
            }
        }
    }

    private static @Nullable String header(String name) {
        return HEADERS.get(name.toLowerCase(Locale.ROOT));
    }
}
