package dev.parley.activity.hub;

import dev.parley.activity.ActivityProtocol;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Adds the agent {@code activity} to hubs. */
public final class ActivitySource implements HubExtensionSource {
    private final @Nullable String traceLink;

    /** For the service loader. */
    public ActivitySource() {
        this(null);
    }

    private ActivitySource(@Nullable String traceLink) {
        this.traceLink = traceLink;
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new ActivitySource(in.find(
                SettingType.TEXT.requiring(ActivitySource::isTemplate, "an http or https URL with {trace}"),
                "trace-link",
                "URL",
                "Page of a trace at a tracing backend, such as https://jaeger.example/trace/{trace}."));
    }

    private static boolean isTemplate(String text) {
        return text.contains("{trace}") && SettingType.HTTP_URL.parser().apply(text.replace("{trace}", "0")) != null;
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public String uri() {
        return ActivityProtocol.PROTOCOL.uri();
    }

    @Override
    public Map<String, String> paths() {
        return Map.of("/" + ActivityProtocol.AGENT, ActivityProtocol.AGENT);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new ActivityHub(hub, traceLink);
    }
}
