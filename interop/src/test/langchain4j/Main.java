import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.agentic.UntypedAgent;
import dev.langchain4j.agentic.a2a.A2AClientInstance;
import io.a2a.util.Utils;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Calls an agent of a hub as an agent of LangChain4j.
 *
 * <p>Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}. The only argument
 * is the URL of the hub. That shows one agent at its root, and LangChain4j looks for cards nowhere else.
 */
final class Main {
    private static final String AGENT_AT_ROOT = "ping";

    /** What other clients do, and this one has no way to ask for. */
    private static final List<String> NOT_OFFERED = List.of(
            "send files",
            "send again when asked",
            "stream",
            "stream of 2,000 events",
            "stream up to a question",
            "get",
            "cancel",
            "subscribe",
            "push config: create",
            "push config: get",
            "push config: list",
            "push config: delete",
            "webhook",
            "errors");

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        UntypedAgent agent = AgenticServices.a2aBuilder(arguments[0])
                .inputKeys("text")
                .outputKey("answer")
                .build();
        tell("card", () -> {
            String name = ((A2AClientInstance) agent).agentCard().name();
            return expect(name, AGENT_AT_ROOT);
        });
        tell("send, answered by a message", () -> expect(agent.invoke(Map.of("text", "hello")), "pong: hello"));
        for (String operation : NOT_OFFERED) {
            tell(operation, "not offered", "an agent of LangChain4j is asked and answers, no more");
        }
        System.exit(0);
    }

    private static String expect(Object actual, String expected) {
        if (!expected.equals(actual)) {
            throw new AssertionError(actual + " (expected: " + expected + ")");
        }
        return expected;
    }

    private static void tell(String operation, Callable<String> work) throws Exception {
        try {
            tell(operation, "passed", work.call());
        } catch (Exception | AssertionError failure) {
            tell(operation, "failed", String.valueOf(failure));
        }
    }

    private static void tell(String operation, String result, String detail) throws Exception {
        var check = new LinkedHashMap<String, String>();
        check.put("client", "LangChain4j 1.14.1-beta24");
        check.put("dialect", "0.3");
        check.put("binding", "jsonrpc");
        check.put("operation", operation);
        check.put("result", result);
        check.put("detail", detail);
        System.out.println(Utils.OBJECT_MAPPER.writeValueAsString(check));
    }
}
