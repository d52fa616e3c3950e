package dev.parley.gateway.hub;

import dev.parley.hub.Hub;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.nio.file.Path;
import java.util.List;

/** A gateway in a process of its own, to be killed. Says "ready URL" once its route is hosted. */
final class CrashedGateway {
    static final String SECRET = "-key-0123456789";

    private CrashedGateway() {}

    public static void main(String[] args) throws Exception {
        Callers.Builder callers = Callers.builder();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            callers.apiKey("caller-" + i, "caller-" + i + SECRET);
        }
        Hub hub = Hub.builder()
                .data(Path.of(args[0]))
                .port(0)
                .set("gateway-allow", "localhost")
                .authentication(Authentication.named(List.of("required")))
                .callers(callers.apiKey("operator", "operator" + SECRET)
                        .scopes("operator", List.of("admin"))
                        .build())
                .start();
        Admin admin = new Admin(hub.url(), "operator" + SECRET);
        if (admin.done("GET", "", null).toString().contains("routes=[]")) {
            admin.add("far", args[1], java.util.Map.of());
        }
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}
