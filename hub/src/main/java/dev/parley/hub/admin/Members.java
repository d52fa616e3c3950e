package dev.parley.hub.admin;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.extension.Handlers;
import dev.parley.hub.admin.MemberOperation.KeyView;
import dev.parley.hub.admin.MemberOperation.NewKeyView;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.trust.Directory;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.Key;
import dev.parley.trust.Directory.NewKey;

/** Handlers for groups, users and their keys. */
final class Members {
    private final Directory directory;

    Members(Directory directory) {
        this.directory = directory;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(MemberOperation.GROUPS, (list, by) -> directory.groups())
                .call(
                        MemberOperation.CREATE_GROUP,
                        refusing((given, by) -> directory.createGroup(given.id(), actor(by))))
                .call(
                        MemberOperation.ARCHIVE,
                        refusing((given, by) -> directory.archiveGroup(given.id(), true, actor(by))))
                .call(
                        MemberOperation.RESTORE,
                        refusing((given, by) -> directory.archiveGroup(given.id(), false, actor(by))))
                .call(MemberOperation.USERS, refusing((list, by) -> directory.users(list.group())))
                .call(
                        MemberOperation.CREATE_USER,
                        refusing((given, by) -> directory.createUser(given.group(), given.user(), actor(by))))
                .call(
                        MemberOperation.DISABLE,
                        refusing((given, by) -> directory.disableUser(given.group(), given.user(), true, actor(by))))
                .call(
                        MemberOperation.ENABLE,
                        refusing((given, by) -> directory.disableUser(given.group(), given.user(), false, actor(by))))
                .call(
                        MemberOperation.KEYS,
                        refusing((list, by) -> directory.keys(list.group()).stream()
                                .map(this::shown)
                                .toList()))
                .call(
                        MemberOperation.CREATE_KEY,
                        refusing((given, by) -> shown(directory.createKey(
                                given.group(), given.principal(), given.scopes(), given.expires(), actor(by)))))
                .call(
                        MemberOperation.ROTATE,
                        refusing((given, by) -> shown(directory.rotateKey(given.id(), given.overlap(), actor(by)))))
                .call(
                        MemberOperation.REVOKE,
                        refusing((given, by) -> shown(directory.revokeKey(given.id(), actor(by)))));
    }

    /** Reports what the directory refuses as an invalid parameter. */
    private static <O, A> CallHandler<O, A> refusing(CallHandler<O, A> handler) {
        return (given, by) -> {
            try {
                return handler.call(given, by);
            } catch (IllegalArgumentException wrong) {
                String message = String.valueOf(wrong.getMessage());
                int colon = message.indexOf(':');
                throw colon < 0
                        ? A2AException.invalidParams("request", message)
                        : A2AException.invalidParams(
                                message.substring(0, colon),
                                message.substring(colon + 1).strip());
            }
        };
    }

    private static Actor actor(CallContext by) {
        return new Actor(by.scope().group(), by.caller(), by.address());
    }

    private NewKeyView shown(NewKey made) {
        return new NewKeyView(made.secret(), shown(made.key()));
    }

    private KeyView shown(Key key) {
        return new KeyView(
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
