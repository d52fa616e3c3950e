/** Settings as records: each module reads its own from a {@link dev.parley.protocol.settings.SettingReader}. */
@NullMarked
package dev.parley.protocol.settings;

import org.jspecify.annotations.NullMarked;
