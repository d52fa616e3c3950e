package dev.parley.client.keys;

import dev.parley.client.keys.KeyStatus.Configured;
import dev.parley.client.keys.KeyStatus.NotConfigured;
import dev.parley.client.keys.KeyStatus.PartiallyConfigured;
import dev.parley.client.keys.KeyStatus.Source;
import dev.parley.client.login.OAuthLogin;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.outbound.http.HeaderText;
import dev.parley.outbound.http.HttpUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The keys that agents are called with, by service: an API key, an OAuth client, or both.
 *
 * <p>They come from a file, else from the environment, else from a keyring. Files and environment are read once, by
 * {@link Builder#build}; the keyring is asked for a key when it is first needed, and its answer is kept. Service ids are
 * lower-cased. An OAuth client comes from one source as a whole.
 *
 * <p>Safe for any number of threads. Asking the keyring may block until a person has unlocked it. Methods throw {@link
 * ClientException} with {@link Problem#KEYS} if a keyring cannot be used, and {@link IllegalArgumentException} for an
 * invalid service id.
 *
 * <p>Source: AgentVault 0.2, KeyManager.
 */
public final class KeyManager {
    private static final Duration LONGEST_MARGIN = Duration.ofSeconds(60);
    private static final String SERVICE = "agentvault:";
    private static final String OAUTH_SERVICE = SERVICE + "oauth:";
    private static final String LOGIN_SERVICE = SERVICE + "login:";
    private static final String REFRESH_TOKEN = "refreshToken";
    private static final String TOKEN_URL = "tokenUrl";
    private static final String RENEW_AT = "renewAt";
    private static final String CLIENT_ID = "clientId";
    private static final String CLIENT_SECRET = "clientSecret";

    /** A name within the keyring. */
    private record Slot(String service, String user) {
        static Slot ofKey(String id) {
            return new Slot(SERVICE + id, id);
        }

        static Slot ofLogin(String id, String part) {
            return new Slot(LOGIN_SERVICE + id, part);
        }

        static Slot ofClient(String id, String part) {
            return new Slot(OAUTH_SERVICE + id, part);
        }
    }

    private final Map<String, ServiceKeys> file;
    private final Map<String, ServiceKeys> environment;
    private final @Nullable Keyring keyring;
    private final Source keyringSource;
    private final ReentrantLock lock = new ReentrantLock();
    /** Answers of the keyring; changed under the lock, so that the user is not asked for a password twice. */
    private final Map<Slot, Optional<String>> answers = new ConcurrentHashMap<>();

    private KeyManager(Builder builder) {
        this.file = builder.file == null ? Map.of() : KeyTable.ofFile(builder.file, builder.warnings);
        this.environment = KeyTable.ofEnvironment(builder.environment, builder.warnings);
        this.keyring = builder.keyring;
        this.keyringSource = builder.keyring instanceof EncryptedFile ? Source.ENCRYPTED_FILE : Source.KEYRING;
    }

    /** Begins with the environment of this process as the only source. */
    public static Builder builder() {
        return new Builder();
    }

    /** Default service id of an agent at this address; empty if it is not an http or https URL. */
    public static Optional<String> serviceId(String address) {
        try {
            return Optional.of(serviceId(HttpUrl.of(address)));
        } catch (IllegalArgumentException otherBinding) {
            return Optional.empty();
        }
    }

    /** Default service id of an agent: its host, with the port if that is not the usual one. */
    public static String serviceId(HttpUrl agent) {
        String origin = agent.origin().toString();
        return origin.substring(origin.indexOf("://") + 3);
    }

    /** Returns whether a text can be the id of a service. */
    public static boolean isServiceId(String text) {
        return ServiceKeys.isService(text);
    }

    /** The API key of a service, which is its static bearer token if it wants one. */
    public Optional<String> apiKey(String serviceId) {
        String id = id(serviceId);
        return Optional.ofNullable(in(file, id).apiKey())
                .or(() -> Optional.ofNullable(in(environment, id).apiKey()))
                .or(() -> read(Slot.ofKey(id)));
    }

    /** The OAuth client that this program is to a service. */
    public Optional<OAuthClient> oauthClient(String serviceId) {
        String id = id(serviceId);
        return in(file, id)
                .client()
                .or(() -> in(environment, id).client())
                .or(() -> inKeyring(id).client());
    }

    /** Whether there is an API key for a service, and where it comes from. */
    public KeyStatus apiKeyStatus(String serviceId) {
        String id = id(serviceId);
        if (in(file, id).apiKey() != null) {
            return new Configured(Source.FILE);
        }
        if (in(environment, id).apiKey() != null) {
            return new Configured(Source.ENVIRONMENT);
        }
        return read(Slot.ofKey(id)).isPresent() ? new Configured(keyringSource) : new NotConfigured();
    }

    /** Whether there is an OAuth client for a service, and where it comes from. */
    public KeyStatus oauthStatus(String serviceId) {
        String id = id(serviceId);
        KeyStatus half = new NotConfigured();
        for (Source source : new Source[] {Source.FILE, Source.ENVIRONMENT, keyringSource}) {
            ServiceKeys keys = switch (source) {
                case FILE -> in(file, id);
                case ENVIRONMENT -> in(environment, id);
                case KEYRING, ENCRYPTED_FILE -> inKeyring(id);
            };
            if (keys.client().isPresent()) {
                return new Configured(source);
            }
            if (keys.hasHalfAClient() && half instanceof NotConfigured) {
                half = new PartiallyConfigured(source);
            }
        }
        return half;
    }

    /** The services that have keys, in alphabetical order; without those that only the system's keyring knows. */
    public Set<String> services() {
        var services = new TreeSet<String>(file.keySet());
        services.addAll(environment.keySet());
        if (keyring != null) {
            for (String service : keyring.services()) {
                Stream.of(OAUTH_SERVICE, LOGIN_SERVICE, SERVICE)
                        .filter(service::startsWith)
                        .findFirst()
                        .ifPresent(prefix -> services.add(service.substring(prefix.length())));
            }
        }
        return services;
    }

    /**
     * A login of the user that is in the keyring.
     *
     * @param token the access token
     * @param renewAt from when on the token is not used any more; null if that is not known
     * @param refresh token that renews it; null if there is none
     */
    public record Login(
            String token,
            @Nullable Instant renewAt,
            @Nullable String refresh,
            String clientId,
            String tokenUrl) {
        @Override
        public String toString() {
            return "Login[" + clientId + " at " + tokenUrl + ", renewed at " + renewAt + "]";
        }
    }

    /**
     * Returns the login whose access token is the API key of a service; empty if there is none, or a key of a file or of the environment
     * comes before it.
     *
     * @param anew whether the keyring is asked again, because another process may have renewed the login
     */
    public Optional<Login> login(String serviceId, boolean anew) {
        String id = id(serviceId);
        if (keyring == null
                || in(file, id).apiKey() != null
                || in(environment, id).apiKey() != null
                || !anew && Optional.empty().equals(answers.get(Slot.ofLogin(id, CLIENT_ID)))) {
            return Optional.empty();
        }
        lock.lock();
        try {
            if (anew) {
                slots(id).forEach(answers::remove);
            }
            // Most keys are not logins, which the first question tells: each may start a program of the system.
            return read(Slot.ofLogin(id, CLIENT_ID))
                    .flatMap(client -> read(Slot.ofLogin(id, TOKEN_URL))
                            .flatMap(url -> read(Slot.ofKey(id))
                                    .map(token -> new Login(
                                            token,
                                            read(Slot.ofLogin(id, RENEW_AT))
                                                    .map(KeyManager::instant)
                                                    .orElse(null),
                                            read(Slot.ofLogin(id, REFRESH_TOKEN))
                                                    .orElse(null),
                                            client,
                                            url))));
        } finally {
            lock.unlock();
        }
    }

    /** An instant of a keyring, where others may have put anything; what cannot be read is past, so that the token is renewed. */
    private static Instant instant(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException other) {
            return Instant.EPOCH;
        }
    }

    /**
     * Puts the tokens of a login into the keyring: the access token as the API key of the service, and beside it the data to
     * renew it.
     *
     * @param now when the server gave them
     * @throws ClientException also if no keyring is enabled
     * @throws IllegalArgumentException if a token is empty or not printable ASCII
     */
    public void setLogin(String serviceId, OAuthLogin.Token token, Instant now) {
        String id = id(serviceId);
        ServiceKeys.requireSecret("access token", token.text());
        requireKeyring();
        lock.lock();
        try {
            // The refresh token first: a process that ends in between must not lose one that the server has replaced.
            writeOrRemove(Slot.ofLogin(id, REFRESH_TOKEN), token.refresh());
            write(Slot.ofLogin(id, CLIENT_ID), token.clientId());
            write(Slot.ofLogin(id, TOKEN_URL), token.tokenUrl());
            write(Slot.ofKey(id), token.text());
            Duration life = token.life();
            writeOrRemove(
                    Slot.ofLogin(id, RENEW_AT),
                    life == null ? null : now.plus(life).minus(margin(life)).toString());
        } finally {
            lock.unlock();
        }
    }

    /** A token that expires on its way is of no use; one that is short-lived is used for most of its life. */
    private static Duration margin(Duration life) {
        Duration fifth = life.dividedBy(5);
        return fifth.compareTo(LONGEST_MARGIN) < 0 ? fifth : LONGEST_MARGIN;
    }

    private void writeOrRemove(Slot slot, @Nullable String secret) {
        if (secret != null) {
            write(slot, secret);
        } else {
            removeSlot(slot);
        }
    }

    private boolean removeSlot(Slot slot) {
        boolean removed = requireKeyring().remove(slot.service(), slot.user());
        answers.remove(slot);
        return removed;
    }

    private static List<Slot> slots(String id) {
        return List.of(
                Slot.ofKey(id),
                Slot.ofClient(id, CLIENT_ID),
                Slot.ofClient(id, CLIENT_SECRET),
                Slot.ofLogin(id, REFRESH_TOKEN),
                Slot.ofLogin(id, RENEW_AT),
                Slot.ofLogin(id, CLIENT_ID),
                Slot.ofLogin(id, TOKEN_URL));
    }

    /**
     * Puts an API key into the keyring, in the place of one that is there, and of a login.
     *
     * @throws ClientException also if no keyring is enabled
     * @throws IllegalArgumentException if it is empty or not printable ASCII
     */
    public void setApiKey(String serviceId, String key) {
        String id = id(serviceId);
        ServiceKeys.requireSecret("API key", key);
        requireKeyring();
        lock.lock();
        try {
            slots(id).stream()
                    .filter(slot -> slot.service().startsWith(LOGIN_SERVICE))
                    .forEach(this::removeSlot);
            write(Slot.ofKey(id), key);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Puts an OAuth client into the keyring, in the place of one that is there.
     *
     * @throws ClientException also if no keyring is enabled
     */
    public void setOAuthClient(String serviceId, OAuthClient client) {
        String id = id(serviceId);
        write(Slot.ofClient(id, CLIENT_ID), client.id());
        write(Slot.ofClient(id, CLIENT_SECRET), client.secret());
    }

    /**
     * Removes all keys of a service from the keyring. Those of files and the environment stay.
     *
     * @return false if there were none
     * @throws ClientException also if no keyring is enabled
     */
    public boolean remove(String serviceId) {
        String id = id(serviceId);
        requireKeyring();
        boolean removed = false;
        lock.lock();
        try {
            for (Slot slot : slots(id)) {
                removed |= removeSlot(slot);
            }
            return removed;
        } finally {
            lock.unlock();
        }
    }

    private static ServiceKeys in(Map<String, ServiceKeys> source, String id) {
        return source.getOrDefault(id, ServiceKeys.NONE);
    }

    private ServiceKeys inKeyring(String id) {
        return new ServiceKeys(
                null,
                read(Slot.ofClient(id, CLIENT_ID)).orElse(null),
                read(Slot.ofClient(id, CLIENT_SECRET)).orElse(null));
    }

    private Optional<String> read(Slot slot) {
        Optional<String> known = keyring == null ? Optional.empty() : answers.get(slot);
        if (known != null) {
            return known; // while the user is asked for another one
        }
        lock.lock();
        try {
            // The file may contain any text; a header value cannot.
            return answers.computeIfAbsent(
                    slot,
                    any -> requireKeyring()
                            .read(slot.service(), slot.user())
                            .filter(secret -> !secret.isBlank() && HeaderText.isValue(secret)));
        } finally {
            lock.unlock();
        }
    }

    private void write(Slot slot, String secret) {
        lock.lock();
        try {
            answers.remove(slot); // it stays forgotten if writing fails half-way
            requireKeyring().write(slot.service(), slot.user(), secret);
        } finally {
            lock.unlock();
        }
    }

    private Keyring requireKeyring() {
        if (keyring == null) {
            throw new ClientException(Problem.KEYS, "keys cannot be kept: no keyring is enabled");
        }
        return keyring;
    }

    /** Returns a service id as it is kept. Other texts end with an IllegalArgumentException. */
    public static String id(String serviceId) {
        return ServiceKeys.service(serviceId);
    }

    @Override
    public String toString() {
        return "KeyManager[file=" + file.keySet() + ", environment=" + environment.keySet() + ", keyring="
                + (keyring == null ? "none" : keyringSource) + "]";
    }

    /** Settings of a {@link KeyManager}. For one thread. */
    public static final class Builder {
        private static final System.Logger LOG = System.getLogger("dev.parley.client");

        private @Nullable Path file;
        private Map<String, String> environment = System.getenv();
        private @Nullable Keyring keyring;
        private Consumer<String> warnings = warning -> LOG.log(System.Logger.Level.WARNING, warning);

        private Builder() {}

        /** Reads a file whose name ends in {@code .env} or {@code .json}. Default: none. */
        public Builder file(Path file) {
            this.file = file;
            return this;
        }

        /** Takes these variables for the environment. Default: that of this process. */
        public Builder environment(Map<String, String> variables) {
            this.environment = Map.copyOf(variables);
            return this;
        }

        /** Reads keys that no other source has from the keyring of the operating system, and writes there. Default: off. */
        public Builder keyring() {
            return keyring(Keyring.ofSystem());
        }

        Builder keyring(Keyring keyring) {
            this.keyring = keyring;
            return this;
        }

        /**
         * Uses an encrypted file as the keyring, for machines that have none. It is made by the first key that is set.
         * Default: off.
         *
         * @param passphrase is copied
         */
        public Builder encryptedFile(Path file, char[] passphrase) {
            return keyring(new EncryptedFile(file, new EncryptedFile.Passphrase(passphrase)));
        }

        /**
         * Uses an encrypted file as the keyring, and a second file as the key to it, which only its owner may
         * read. Both are made by the first key that is set. Default: off.
         */
        public Builder encryptedFile(Path file, Path keyFile) {
            return keyring(new EncryptedFile(file, new EncryptedFile.KeyFile(keyFile)));
        }

        /** Receives warnings, such as of a missing file. Default: the log. */
        public Builder warnings(Consumer<String> warnings) {
            this.warnings = warnings;
            return this;
        }

        /**
         * Reads the file and the environment.
         *
         * @throws ClientException if the file is there but cannot be read
         */
        public KeyManager build() {
            return new KeyManager(this);
        }
    }
}
