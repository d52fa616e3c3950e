package dev.parley.mesh.hub;

import com.sun.net.httpserver.HttpServer;
import dev.parley.testkit.AddressContract;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.List;

/** The operator names the hubs; one of them redirects to the address. */
class SenderKeysAddressTest extends AddressContract {
    @Override
    protected List<String> ofThisMachine() {
        return List.of("127.0.0.2", "[::1]");
    }

    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        HttpServer hub = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hub.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Location", url);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        hub.start();
        String base = "http://127.0.0.1:" + hub.getAddress().getPort();
        try (var keys = new SenderKeys(List.of(base), InstantSource.system())) {
            return String.valueOf(keys.of(base + "/agents/a", "g", null));
        } finally {
            hub.stop(0);
        }
    }
}
