package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A webhook that receives the events of a task.
 *
 * <p>Source: A2A specification 1.0, section 4.3.1 "TaskPushNotificationConfig".
 *
 * @param id unique within the task; null until the server has given one
 * @param taskId null while the task does not exist yet
 * @param token echoed to the webhook, so that it can tell the call is expected
 */
public record PushConfig(
        @Nullable String tenant,
        @Nullable String id,
        @Nullable String taskId,
        String url,
        @Nullable String token,
        @Nullable Authentication authentication) {
    /** Authentication of notifications: one HTTP scheme, spelt as the client spelt it. */
    public record Authentication(String scheme, @Nullable String credentials) {
        public Authentication {
            requireNonNull(scheme, "scheme");
        }

        @Override
        public String toString() {
            return "Authentication[" + scheme + "]"; // never the credentials: this ends up in logs
        }
    }

    public PushConfig {
        requireNonNull(url, "url");
        if (url.isEmpty()) {
            throw InvalidField.of("url", "must not be empty");
        }
    }

    /** Returns a copy with the ids of its task and of itself. */
    public PushConfig of(String taskId, String id) {
        return new PushConfig(tenant, id, taskId, url, token, authentication);
    }

    /** Returns a copy without the token and the credentials, which only deliveries need. */
    public PushConfig withoutSecrets() {
        Authentication scheme = authentication == null ? null : new Authentication(authentication.scheme(), null);
        return new PushConfig(tenant, id, taskId, url, null, scheme);
    }

    @Override
    public String toString() {
        return "PushConfig[" + taskId + "/" + id + " " + url + "]";
    }
}
