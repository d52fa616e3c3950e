package dev.parley.client.webhooks;

import dev.parley.dialect.spi.Notification;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.PushConfig;
import dev.parley.testkit.AddressContract;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

class WebhookAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        try (var sender = new WebhookSender(AddressRule.allowing(allowed), InstantSource.system())) {
            var config = new PushConfig(null, "c", "t", url, null, null);
            var event = new Notification("application/a2a+json", Map.of(), new byte[0]);
            return sender.send("g", config, 1, event, null).toString();
        }
    }
}
