package dev.parley.cli.command;

import static dev.parley.protocol.settings.SettingSpec.Trait.NOT_IN_FILES;
import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingType.HTTP_URL;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.hub.HubSettings;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Settings of the program that runs a hub: its agents, its keys and where it reports. */
public record UpSettings(
        @Nullable String defaultAgent,
        List<String> agents,
        boolean noDemo,
        List<String> cardKeys,
        String logFormat,
        @Nullable URI otlpEndpoint,
        @Nullable Path config) {

    /** Reads all settings of {@code up}: those of the hub, and these. */
    static UpSettings readAll(SettingReader in) {
        var unused = HubSettings.read(in);
        return read(in);
    }

    public static UpSettings read(SettingReader in) {
        return new UpSettings(
                in.find(
                        TEXT,
                        "default-agent",
                        "NAME",
                        "Agent that also answers at the root; echo if it is hosted, else the first one."),
                in.list(
                        "agents",
                        "JAR|DIR",
                        "Host the agents found in this jar, or in the jars of this directory; repeatable.",
                        REPEATABLE),
                in.flag("no-demo", "Do not host the demo agents."),
                in.list(
                        "card-key",
                        "FILE",
                        "Sign cards by the key in this file, and publish it; of several files, the first key signs;"
                                + " repeatable. parley card key create makes one.",
                        REPEATABLE),
                in.get(
                        SettingType.oneOf("text", "json"),
                        "log-format",
                        "text",
                        "FORMAT",
                        "Lines of the log on stderr: text, or json with the ids of task, context, message and trace."),
                in.find(
                        HTTP_URL,
                        "otlp-endpoint",
                        "URL",
                        "Send traces, metrics and logs here, by OTLP over HTTP, such as http://127.0.0.1:4318;"
                                + " more by the variables OTEL_…."),
                in.find(
                        PATH,
                        "config",
                        "FILE",
                        "YAML file with these settings under the names of their flags.",
                        NOT_IN_FILES));
    }
}
