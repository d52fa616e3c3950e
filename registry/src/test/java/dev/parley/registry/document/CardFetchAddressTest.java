package dev.parley.registry.document;

import dev.parley.testkit.AddressContract;
import java.util.List;

class CardFetchAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) {
        try (var fetch = new CardFetch(allowed, false)) {
            return String.valueOf(fetch.document("g", url).url());
        }
    }
}
