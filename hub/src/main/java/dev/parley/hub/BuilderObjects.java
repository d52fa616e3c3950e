package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.protocol.SecurityScheme;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.Wrapper;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.cards.CardKeys;
import io.opentelemetry.api.OpenTelemetry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Objects that a {@link HubBuilder} was given, beside settings. */
final class BuilderObjects {
    final Map<String, Agent> agents = new LinkedHashMap<>();
    final List<AgentExtension> extensions = new ArrayList<>();
    final Map<String, Authentication> agentAuthentication = new LinkedHashMap<>();
    final List<SecurityScheme.Flow> flows = new ArrayList<>();
    Wrapper connections = connection -> connection;

    @Nullable
    Predecessor replaced;

    Consumer<String> waits = reason -> {};

    @Nullable
    CardKeys cardKeys;

    @Nullable
    OpenTelemetry telemetry;

    @Nullable
    String defaultAgent;

    @Nullable
    ValueCipher encryption;

    @Nullable
    Callers callers;

    @Nullable
    Authentication authentication;

    @Nullable
    PolicyFile policy;

    /** Names of the settings that these objects stand for. */
    Set<String> settings() {
        var names = new HashSet<String>();
        if (authentication != null) {
            names.add("auth");
        }
        if (!agentAuthentication.isEmpty()) {
            names.add("agent-auth");
        }
        if (policy != null) {
            names.add("policy");
        }
        if (encryption != null) {
            names.add("encryption-key");
        }
        return names;
    }
}
