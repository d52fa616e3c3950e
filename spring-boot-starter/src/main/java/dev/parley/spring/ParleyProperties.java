package dev.parley.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the starter. All other properties {@code parley.NAME} are the settings of a hub, which {@link PropertySettings} reads.
 *
 * @param enabled whether the agents are hosted
 * @param path below the context path, at which the servlet serves the agents; of servlet applications only
 * @param defaultAgent name of the agent that also answers at the root; null for the first bean
 */
@ConfigurationProperties("parley")
public record ParleyProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("/a2a") String path,
        @Nullable String defaultAgent) {

    public ParleyProperties {
        if (!path.matches("(/[^/*?#\\s]+)*")) {
            throw new IllegalArgumentException("parley.path \"" + path + "\": not a path of a servlet"
                    + " (expected: such as /a2a, or empty for the whole application)");
        }
    }
}
