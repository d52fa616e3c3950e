package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.settings.EffectiveSetting.Source;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Operation that shows settings. */
public final class SettingOperation {
    private SettingOperation() {}

    @AdminCall.Named("settings")
    record ListSettings() implements AdminCall<List<SettingView>> {}

    /**
     * A setting of a hub.
     *
     * @param type values that it may have, in words
     * @param value null if it is a secret, or not set
     * @param origin the variable or the file; null for other sources
     */
    public record SettingView(
            String name,
            String type,
            String description,
            Source source,
            boolean isSecret,
            boolean isSet,
            @Nullable String value,
            @Nullable String origin) {}

    private static final Codec<SettingView> SETTING = ObjectCodec.<SettingView>of()
            .required("name", TEXT, SettingView::name)
            .required("type", TEXT, SettingView::type)
            .required("description", TEXT, SettingView::description)
            .required("source", Codecs.words(Source.class), SettingView::source)
            .required("isSecret", BOOLEAN, SettingView::isSecret)
            .required("isSet", BOOLEAN, SettingView::isSet)
            .optional("value", TEXT, SettingView::value)
            .optional("origin", TEXT, SettingView::origin)
            .as(v -> new SettingView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    static final ExtensionMethod<ListSettings, List<SettingView>> LIST = AdminRow.of(
            ListSettings.class,
            "GET /settings",
            "Show the settings of a running hub and their sources",
            ObjectCodec.<ListSettings>of().as(v -> new ListSettings()),
            ObjectCodec.list("settings", SETTING));
}
