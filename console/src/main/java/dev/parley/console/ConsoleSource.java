package dev.parley.console;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;

/** Adds the console to hubs, at {@value Console#PATH}. */
public final class ConsoleSource implements HubExtensionSource {
    static final String URI = ExtensionUri.permanent("/extensions/console/v1");

    private final boolean isOn;

    /** For the service loader: the console is on. */
    public ConsoleSource() {
        this(true);
    }

    private ConsoleSource(boolean isOn) {
        this.isOn = isOn;
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public String uri() {
        return URI;
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new ConsoleSource(in.get(
                        SettingType.oneOf("on", "off"),
                        "console",
                        "on",
                        "on|off",
                        "Web console at /ui/, to which the root leads browsers: on or off.")
                .equals("on"));
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new Console(hub, isOn);
    }
}
