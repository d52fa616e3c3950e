import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * Serves one agent with the server of one release of the official Java SDK, on a free port of this machine.
 *
 * <p>Prints one line of JSON as soon as it can be called, {server, dialect, url, origins, bindings}, and stops when its
 * input ends.
 */
@QuarkusMain
public class Main implements QuarkusApplication {
    private static final Map<String, String> PROTOCOLS = Map.of("jsonrpc", "JSONRPC", "rest", "HTTP+JSON", "grpc", "GRPC");

    private static final String HTTP_PORT = "quarkus.http.port";
    private static final String RPC_PORT = "quarkus.grpc.server.port";

    public static void main(String[] arguments) throws IOException {
        // Of the port that it takes by itself, the server of gRPC tells nobody.
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.setProperty(RPC_PORT, String.valueOf(free.getLocalPort()));
        }
        Quarkus.run(Main.class, arguments);
    }

    /** Where HTTP is answered, once there is a port. */
    static String url() {
        return "http://127.0.0.1:" + System.getProperty(HTTP_PORT);
    }

    /** Where gRPC is. */
    static String authority() {
        return "127.0.0.1:" + System.getProperty(RPC_PORT);
    }

    /** What cards call the bindings. */
    static List<String> protocols() {
        return bindings().stream().map(PROTOCOLS::get).toList();
    }

    private static List<String> bindings() {
        return List.of(setting("bindings").split(","));
    }

    static String setting(String name) {
        return ConfigProvider.getConfig().getValue("handyman." + name, String.class);
    }

    @Override
    public int run(String... arguments) throws IOException {
        var bindings = new ArrayList<String>();
        bindings().forEach(name -> bindings.add("\"%s\":\"%s\"".formatted(name, PROTOCOLS.get(name))));
        System.out.printf(
                "{\"server\":\"Java %s\",\"dialect\":\"%s\",\"url\":\"%s\",\"origins\":[\"http://%s\"],\"bindings\":{%s}}%n",
                setting("release"),
                setting("protocol").substring(0, 3),
                url(),
                authority(),
                String.join(",", bindings));
        System.in.transferTo(OutputStream.nullOutputStream());
        return 0;
    }
}
