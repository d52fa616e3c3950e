package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.USAGE;

import dev.parley.extension.AdminHandler;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Usage;
import java.util.Map;

/** Handler that lists the bytes that groups keep, and their limits. */
final class GroupUsage {
    private final Storage storage;

    GroupUsage(Storage storage) {
        this.storage = storage;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "groups/usage",
                (given, by) -> Map.of(
                        "groups",
                        storage.usage().entrySet().stream()
                                .map(group -> shown(group.getKey(), group.getValue()))
                                .toList()));
    }

    private static Map<String, Object> shown(String group, Usage usage) {
        return answer(USAGE, group, usage.sum(), usage.limit());
    }
}
