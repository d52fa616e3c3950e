package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.protocol.A2AException;
import dev.parley.trust.Directory;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.Group;
import dev.parley.trust.Directory.Key;
import dev.parley.trust.Directory.NewKey;
import dev.parley.trust.Directory.User;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * For operators: groups, who belongs to them, and their keys.
 *
 * <p>{@code GET} and {@code POST} at {@code /groups}, {@code /users} and {@code /keys} list and make them; {@code POST
 * /groups/{id}/archive}, {@code …/restore}, {@code /users/{group}/{name}/disable}, {@code …/enable},
 * {@code /keys/{id}/rotate} and {@code …/revoke} change one.
 */
final class Members {
    /** How long a key goes on beside the one that takes over from it, if nothing else is said. */
    private static final Duration OVERLAP = Duration.ofHours(24);

    private static final Duration LONGEST_OVERLAP = Duration.ofDays(365);

    private final Directory directory;

    Members(Directory directory) {
        this.directory = directory;
    }

    WireAnswer answer(AdminRequest request, Actor by) {
        try {
            return switch (request.step(0)) {
                case "groups" -> groups(request, by);
                case "users" -> users(request, by);
                case "keys" -> keys(request, by);
                default -> throw request.nothingHere();
            };
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

    private WireAnswer groups(AdminRequest request, Actor by) {
        return switch (request.steps()) {
            case 1 ->
                request.isPost()
                        ? AdminRequest.json(shown(directory.createGroup(request.text("id"), by)))
                        : AdminRequest.json(Map.of(
                                "groups",
                                directory.groups().stream().map(Members::shown).toList()));
            case 3 -> {
                request.requirePost();
                boolean archived = request.oneOf(2, "archive", "restore");
                yield AdminRequest.json(shown(directory.archiveGroup(request.step(1), archived, by)));
            }
            default -> throw request.nothingHere();
        };
    }

    private WireAnswer users(AdminRequest request, Actor by) {
        return switch (request.steps()) {
            case 1 ->
                request.isPost()
                        ? AdminRequest.json(
                                shown(directory.createUser(request.text("group"), request.text("name"), by)))
                        : AdminRequest.json(Map.of(
                                "users",
                                directory.users(request.parameter("group")).stream()
                                        .map(Members::shown)
                                        .toList()));
            case 4 -> {
                request.requirePost();
                boolean disabled = request.oneOf(3, "disable", "enable");
                yield AdminRequest.json(shown(directory.disableUser(request.step(1), request.step(2), disabled, by)));
            }
            default -> throw request.nothingHere();
        };
    }

    private WireAnswer keys(AdminRequest request, Actor by) {
        return switch (request.steps()) {
            case 1 ->
                request.isPost()
                        ? AdminRequest.json(shown(directory.createKey(
                                request.text("group"),
                                request.text("principal"),
                                request.texts("scopes"),
                                request.time("expires"),
                                by)))
                        : AdminRequest.json(Map.of(
                                "keys",
                                directory.keys(request.parameter("group")).stream()
                                        .map(Members::shown)
                                        .toList()));
            case 3 -> {
                request.requirePost();
                String id = request.step(1);
                yield request.oneOf(2, "rotate", "revoke")
                        ? AdminRequest.json(shown(directory.rotateKey(
                                id, request.seconds("overlapSeconds", OVERLAP, LONGEST_OVERLAP), by)))
                        : AdminRequest.json(shown(directory.revokeKey(id, by)));
            }
            default -> throw request.nothingHere();
        };
    }

    private static Map<String, @Nullable Object> shown(Group group) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("id", group.id());
        shown.put("made", group.made().toString());
        putIfThere(shown, "archived", group.archived());
        return shown;
    }

    private static Map<String, @Nullable Object> shown(User user) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("group", user.group());
        shown.put("name", user.name());
        shown.put("made", user.made().toString());
        putIfThere(shown, "disabled", user.disabled());
        return shown;
    }

    private static Map<String, @Nullable Object> shown(NewKey made) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("id", made.key().id());
        shown.put("key", made.secret());
        shown(made.key()).forEach(shown::putIfAbsent);
        return shown;
    }

    private static Map<String, @Nullable Object> shown(Key key) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("id", key.id());
        shown.put("prefix", Directory.KEY_PREFIX + key.id());
        shown.put("group", key.group());
        shown.put("principal", key.principal());
        shown.put("scopes", List.copyOf(key.scopes()));
        shown.put("made", key.made().toString());
        putIfThere(shown, "expires", key.expires());
        putIfThere(shown, "revoked", key.revoked());
        if (key.successor() != null) {
            shown.put("successor", key.successor());
        }
        return shown;
    }

    private static void putIfThere(Map<String, @Nullable Object> shown, String name, @Nullable Instant time) {
        if (time != null) {
            shown.put(name, Objects.toString(time));
        }
    }
}
