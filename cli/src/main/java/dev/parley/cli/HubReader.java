package dev.parley.cli;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads the settings of a hub from flags, environment and file; relative paths begin at the working directory. */
record HubReader(Settings settings, Surroundings around) implements SettingReader {
    @Override
    @SuppressWarnings("unchecked") // a path for a path
    public <T> @Nullable T read(SettingSpec<T> spec) {
        T value = settings.get(Setting.ofHub(spec));
        return value instanceof Path path ? (T) around.path(path) : value;
    }
}
