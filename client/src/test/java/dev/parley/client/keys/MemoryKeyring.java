package dev.parley.client.keys;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A keyring that ends with the test, and remembers what it was asked for. */
public final class MemoryKeyring implements Keyring {
    final List<String> reads = new ArrayList<>();
    private final Map<List<String>, String> secrets = new HashMap<>();

    /** Begins with this keyring and no environment. */
    public KeyManager.Builder builder() {
        return KeyManager.builder().environment(Map.of()).keyring(this);
    }

    @Override
    public Optional<String> read(String service, String user) {
        reads.add(service + " " + user);
        return Optional.ofNullable(secrets.get(List.of(service, user)));
    }

    @Override
    public void write(String service, String user, String secret) {
        secrets.put(List.of(service, user), secret);
    }

    @Override
    public boolean remove(String service, String user) {
        return secrets.remove(List.of(service, user)) != null;
    }
}
