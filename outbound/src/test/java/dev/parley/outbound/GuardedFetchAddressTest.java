package dev.parley.outbound;

import dev.parley.testkit.AddressContract;
import java.time.Duration;
import java.util.List;
import java.util.Map;

class GuardedFetchAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        try (var fetch = new GuardedFetch(AddressRule.allowing(allowed), Duration.ofSeconds(10), 1000)) {
            return "status " + fetch.get("g", url, Map.of()).status();
        }
    }
}
