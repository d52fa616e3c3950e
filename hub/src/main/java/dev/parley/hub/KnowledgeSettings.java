package dev.parley.hub;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;

/**
 * Settings of the knowledge graph as an extension of agents; {@link #read} states their names and defaults.
 *
 * @param strictStatuses whether errors of {@code knowledge/query} and {@code knowledge/update} have their HTTP status, instead of 200,
 *     the only status with which published clients of the extension read them
 */
record KnowledgeSettings(boolean strictStatuses) {
    static KnowledgeSettings read(SettingReader in) {
        String statuses = in.get(
                SettingType.oneOf("legacy", "strict"),
                "kg-http-status",
                "legacy",
                "TABLE",
                "HTTP status of errors of knowledge/query and knowledge/update: legacy is 200, strict is their own.");
        return new KnowledgeSettings(statuses.equals("strict"));
    }
}
