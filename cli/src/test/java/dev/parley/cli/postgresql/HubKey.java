package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;

/** An API key of the group {@code default}. */
record HubKey(String id, String secret) {
    static HubKey create(HubCalls operator) {
        Answer created =
                operator.post("/admin/keys", Map.of("group", "default", "principal", "caller", "scopes", List.of()));
        assertThat(created.status()).as(created.toString()).isEqualTo(Answer.OK);
        Map<?, ?> key = created.json();
        return new HubKey(
                String.valueOf(requireNonNull(key.get("id"))), String.valueOf(requireNonNull(key.get("key"))));
    }

    /** Revokes it and returns the answer. */
    Answer revoke(HubCalls operator) {
        Answer revoked = operator.post("/admin/keys/" + id + "/revoke", Map.of());
        assertThat(revoked.status()).as(revoked.toString()).isEqualTo(Answer.OK);
        return revoked;
    }
}
