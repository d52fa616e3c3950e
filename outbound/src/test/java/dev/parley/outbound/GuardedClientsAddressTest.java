package dev.parley.outbound;

import dev.parley.outbound.http.HttpUrl;
import dev.parley.testkit.AddressContract;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

class GuardedClientsAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(HttpUrl.of(url).uri()).build();
        try (var clients = new GuardedClients(AddressRule.allowing(allowed))) {
            return "status "
                    + clients.of("g").send(request, BodyHandlers.discarding()).statusCode();
        }
    }
}
