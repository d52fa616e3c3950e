package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.GROUP;
import static dev.parley.hub.admin.AdminOperations.KEY;
import static dev.parley.hub.admin.AdminOperations.USER;

import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.trust.Directory;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.Group;
import dev.parley.trust.Directory.Key;
import dev.parley.trust.Directory.NewKey;
import dev.parley.trust.Directory.User;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Handlers for groups, users and their keys. */
final class Members {
    /** How long a key goes on beside its successor, by default. */
    private static final Duration OVERLAP = Duration.ofHours(24);

    private final Directory directory;

    Members(Directory directory) {
        this.directory = directory;
    }

    Map<String, AdminHandler> handlers() {
        var handlers = new HashMap<String, AdminHandler>();
        handlers.put("groups/list", (given, by) -> all("groups", directory.groups(), Members::shown));
        handlers.put("groups/create", (given, by) -> shown(directory.createGroup(given.text("id"), actor(by))));
        handlers.put("groups/archive", (given, by) -> archive(given, true, by));
        handlers.put("groups/restore", (given, by) -> archive(given, false, by));
        handlers.put(
                "users/list", (given, by) -> all("users", directory.users(given.textOrNull("group")), Members::shown));
        handlers.put(
                "users/create",
                (given, by) -> shown(directory.createUser(given.text("group"), given.text("name"), actor(by))));
        handlers.put("users/disable", (given, by) -> disable(given, true, by));
        handlers.put("users/enable", (given, by) -> disable(given, false, by));
        handlers.put("keys/list", (given, by) -> all("keys", directory.keys(given.textOrNull("group")), this::shown));
        handlers.put("keys/create", this::createKey);
        handlers.put("keys/rotate", this::rotateKey);
        handlers.put("keys/revoke", (given, by) -> shown(directory.revokeKey(given.text("id"), actor(by))));
        handlers.replaceAll((name, handler) -> (given, by) -> refusing(handler, given, by));
        return handlers;
    }

    /** Answers, and reports what the directory refuses as an invalid parameter. */
    private static Object refusing(AdminHandler handler, AdminParameters given, CallContext by) {
        try {
            return handler.answer(given, by);
        } catch (IllegalArgumentException wrong) {
            String message = String.valueOf(wrong.getMessage());
            int colon = message.indexOf(':');
            throw colon < 0
                    ? A2AException.invalidParams("request", message)
                    : A2AException.invalidParams(
                            message.substring(0, colon),
                            message.substring(colon + 1).strip());
        }
    }

    private static <T> Map<String, Object> all(String name, List<T> all, Function<T, Map<String, ?>> shown) {
        return Map.of(name, all.stream().map(shown).toList());
    }

    private static Actor actor(CallContext by) {
        return new Actor(by.scope().group(), by.caller(), by.address());
    }

    private Object archive(AdminParameters given, boolean archived, CallContext by) {
        return shown(directory.archiveGroup(given.text("id"), archived, actor(by)));
    }

    private Object disable(AdminParameters given, boolean disabled, CallContext by) {
        return shown(directory.disableUser(given.text("group"), given.text("name"), disabled, actor(by)));
    }

    private Object createKey(AdminParameters given, CallContext by) {
        return shown(directory.createKey(
                given.text("group"), given.text("principal"), given.texts("scopes"), given.time("expires"), actor(by)));
    }

    private Object rotateKey(AdminParameters given, CallContext by) {
        Duration overlap = Duration.ofSeconds(given.number("overlapSeconds", OVERLAP.toSeconds()));
        return shown(directory.rotateKey(given.text("id"), overlap, actor(by)));
    }

    private static Map<String, Object> shown(Group group) {
        return answer(GROUP, group.id(), group.made(), group.archived());
    }

    private static Map<String, Object> shown(User user) {
        return answer(USER, user.group(), user.name(), user.made(), user.disabled());
    }

    private Map<String, Object> shown(NewKey made) {
        var shown = new LinkedHashMap<String, Object>();
        shown.put("id", made.key().id());
        shown.put("key", made.secret());
        shown(made.key()).forEach(shown::putIfAbsent);
        return shown;
    }

    private Map<String, Object> shown(Key key) {
        return answer(
                KEY,
                key.id(),
                Directory.KEY_PREFIX + key.id(),
                key.group(),
                key.principal(),
                key.scopes().stream().sorted().toList(),
                key.made(),
                key.expires(),
                key.revoked(),
                directory.lastUse(key.id()),
                key.successor());
    }
}
