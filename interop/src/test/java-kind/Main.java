import io.a2a.util.Utils;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Does everything that one release of the official Java SDK can do with the agents of a hub, once over each binding.
 *
 * <p>Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}. The only argument
 * is the URL of the hub.
 */
final class Main {
    static final int SECONDS_PER_OPERATION = 20;

    private static final List<String> AGENTS = List.of("analyst", "chatty", "counter", "echo", "interview", "ping");

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // the SDK prints there, too
        for (String binding : Clients.BINDINGS) {
            var agents = new HashMap<String, Agent>();
            for (String name : AGENTS) {
                agents.put(name, Clients.connect(arguments[0], "/agents/" + name, binding));
            }
            for (var operation : new Operations(agents).all().entrySet()) {
                var check = new LinkedHashMap<String, String>();
                check.put("client", "Java " + Clients.RELEASE);
                check.put("dialect", Clients.DIALECT);
                check.put("binding", binding);
                check.put("operation", operation.getKey());
                check.putAll(outcome(operation.getValue()));
                out.println(Utils.OBJECT_MAPPER.writeValueAsString(check));
            }
        }
        System.exit(0);
    }

    private static Map<String, String> outcome(Operations.Operation operation) {
        try {
            return Map.of("result", "passed", "detail", operation.run());
        } catch (NotOffered reason) {
            return Map.of("result", "not offered", "detail", reason.getMessage());
        } catch (Exception | Error failure) {
            var trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            return Map.of("result", "failed", "detail", trace.toString());
        }
    }
}
