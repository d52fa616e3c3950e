package dev.parley.hub.webhooks;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.protocol.support.Hmac;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Secrets that sign webhooks, one for each group, derived from the file {@value SecretFile#WEBHOOKS} of the data directory. A receiver has
 * the secret of its group, which neither verifies nor forges deliveries of another group. Safe for any thread.
 *
 * <p>Source: RFC 5869, HKDF with SHA-256.
 */
public final class WebhookSecrets {
    private static final System.Logger LOG = System.getLogger("dev.parley.hub");
    private static final int BYTES = 32;

    private final byte[] master;
    private final @Nullable String shared;

    private WebhookSecrets(String master, @Nullable String shared) {
        StandardWebhooks.of(List.of(master)); // refuses one that is empty or short
        this.master = master.getBytes(UTF_8);
        this.shared = shared;
    }

    /** Secrets that end with the process. */
    public static WebhookSecrets random() {
        return new WebhookSecrets(StandardWebhooks.newSecret(), null);
    }

    /**
     * The secrets of a data directory, whether or not a hub runs on it. Makes the master key if there is none.
     *
     * @throws dev.parley.store.spi.NotOpenedException if a file cannot be read or made
     * @throws IllegalArgumentException if a file holds no secret
     */
    public static WebhookSecrets in(Path data) {
        return in(SecretDirectory.data(data));
    }

    /** {@link #in(Path)}, also of a directory that is only read. */
    public static WebhookSecrets in(SecretDirectory directory) {
        String master = directory.get(SecretFile.WEBHOOKS, StandardWebhooks::newSecret);
        return new WebhookSecrets(master, directory.find(SecretFile.SHARED).orElse(null));
    }

    /** Returns the secret of a group, in the form {@code whsec_…}. It stays the same as long as the master key does. */
    public String of(String group) {
        return "whsec_" + Base64.getEncoder().encodeToString(key("webhooks\n" + group));
    }

    /** Signs with the secret of a group; also with the shared secret of earlier versions as long as its file exists. */
    public StandardWebhooks signer(String group) {
        return StandardWebhooks.of(shared == null ? List.of(of(group)) : List.of(of(group), shared));
    }

    /** Warns of a secret that receivers of all groups know. */
    public void warnOfShared() {
        if (shared != null) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} of the data directory also signs the webhooks of all groups, so each receiver can forge deliveries to"
                            + " the others: give receivers the secrets of their groups (parley push secret), then delete the"
                            + " file",
                    SecretFile.SHARED);
        }
    }

    /** Returns a key for another purpose, from which nothing about the secrets of groups follows. */
    public byte[] keyFor(String purpose) {
        return key("key\n" + purpose);
    }

    private byte[] key(String info) {
        byte[] extracted = Hmac.of(Hmac.key(new byte[BYTES]), master);
        // One block is all that is needed.
        return Hmac.of(Hmac.key(extracted), ("parley " + info + '\u0001').getBytes(UTF_8));
    }
}
