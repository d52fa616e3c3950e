package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.trust.Directory.Group;
import dev.parley.trust.Directory.User;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations on groups, their users and their keys. */
final class MemberOperation {
    /** How long a key goes on beside its successor, by default. */
    private static final Duration OVERLAP = Duration.ofHours(24);

    private static final Duration LONGEST_OVERLAP = Duration.ofDays(365);

    private MemberOperation() {}

    @AdminCall.Named("groups/list")
    record ListGroups() implements AdminCall<List<Group>> {}

    @AdminCall.Named("groups/usage")
    record ListUsage() implements AdminCall<List<UsageView>> {}

    @AdminCall.Named("groups/create")
    record CreateGroup(String id) implements AdminCall<Group> {}

    @AdminCall.Named("groups/archive")
    record ArchiveGroup(String id) implements AdminCall<Group> {}

    @AdminCall.Named("groups/restore")
    record RestoreGroup(String id) implements AdminCall<Group> {}

    /** @param group null for all */
    @AdminCall.Named("users/list")
    record ListUsers(@Nullable String group) implements AdminCall<List<User>> {}

    @AdminCall.Named("users/create")
    record CreateUser(String group, String user) implements AdminCall<User> {}

    @AdminCall.Named("users/disable")
    record DisableUser(String group, String user) implements AdminCall<User> {}

    @AdminCall.Named("users/enable")
    record EnableUser(String group, String user) implements AdminCall<User> {}

    /** @param group null for all */
    @AdminCall.Named("keys/list")
    record ListKeys(@Nullable String group) implements AdminCall<List<KeyView>> {}

    /** @param expires null for never */
    @AdminCall.Named("keys/create")
    record CreateKey(
            String group,
            String principal,
            List<String> scopes,
            @Nullable Instant expires) implements AdminCall<NewKeyView> {}

    /** @param overlap how long the old key stays valid */
    @AdminCall.Named("keys/rotate")
    record RotateKey(String id, Duration overlap) implements AdminCall<NewKeyView> {}

    @AdminCall.Named("keys/revoke")
    record RevokeKey(String id) implements AdminCall<KeyView> {}

    /**
     * Bytes that a group keeps.
     *
     * @param limitBytes null for none
     */
    record UsageView(String group, long bytes, @Nullable Long limitBytes) {}

    /**
     * A key, without the key itself.
     *
     * @param prefix by which the key begins
     * @param successor id of the key that takes over from it; null for none
     */
    record KeyView(
            String id,
            String prefix,
            String group,
            String principal,
            List<String> scopes,
            Instant made,
            @Nullable Instant expires,
            @Nullable Instant revoked,
            @Nullable Instant lastUse,
            @Nullable String successor) {}

    /** A key that was made now, with the key itself, which is shown once. */
    record NewKeyView(String key, KeyView view) {}

    private static final Codec<Group> GROUP = ObjectCodec.<Group>of()
            .required("id", TEXT, Group::id)
            .required("made", TIME, Group::made)
            .optional("archived", TIME, Group::archived)
            .as(v -> new Group(v.next(), v.next(), v.next()));

    private static final Codec<UsageView> USAGE = ObjectCodec.<UsageView>of()
            .required("group", TEXT, UsageView::group)
            .required("bytes", COUNT, UsageView::bytes)
            .optional("limitBytes", COUNT, UsageView::limitBytes)
            .as(v -> new UsageView(v.next(), v.next(), v.next()));

    private static final Codec<User> USER = ObjectCodec.<User>of()
            .required("group", TEXT, User::group)
            .required("name", TEXT, User::name)
            .required("made", TIME, User::made)
            .optional("disabled", TIME, User::disabled)
            .as(v -> new User(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<KeyView> KEY = key(
                    ObjectCodec.<KeyView>of().required("id", TEXT, KeyView::id), Function.identity())
            .as(v -> view(v.next(), v));

    private static final Codec<NewKeyView> NEW_KEY = key(
                    ObjectCodec.<NewKeyView>of()
                            .required("id", TEXT, made -> made.view().id())
                            .required("key", TEXT, NewKeyView::key),
                    NewKeyView::view)
            .as(v -> {
                String id = v.next();
                return new NewKeyView(v.next(), view(id, v));
            });

    private static <T> ObjectCodec.Builder<T> key(ObjectCodec.Builder<T> shape, Function<T, KeyView> of) {
        return shape.required("prefix", TEXT, key -> of.apply(key).prefix())
                .required("group", TEXT, key -> of.apply(key).group())
                .required("principal", TEXT, key -> of.apply(key).principal())
                .required("scopes", TEXTS, key -> of.apply(key).scopes())
                .required("made", TIME, key -> of.apply(key).made())
                .optional("expires", TIME, key -> of.apply(key).expires())
                .optional("revoked", TIME, key -> of.apply(key).revoked())
                .optional("lastUse", TIME, key -> of.apply(key).lastUse())
                .optional("successor", TEXT, key -> of.apply(key).successor());
    }

    private static KeyView view(String id, ObjectCodec.Values v) {
        return new KeyView(
                id, v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
    }

    static final ExtensionMethod<ListGroups, List<Group>> GROUPS = AdminRow.of(
            ListGroups.class,
            "GET /groups",
            "List them",
            ObjectCodec.<ListGroups>of().as(v -> new ListGroups()),
            ObjectCodec.list("groups", GROUP));

    static final ExtensionMethod<ListUsage, List<UsageView>> USAGES = AdminRow.of(
            ListUsage.class,
            "GET /groups/usage",
            "Show the bytes that groups keep, and their limits",
            ObjectCodec.<ListUsage>of().as(v -> new ListUsage()),
            ObjectCodec.list("groups", USAGE));

    static final ExtensionMethod<CreateGroup, Group> CREATE_GROUP = AdminRow.of(
            CreateGroup.class,
            "POST /groups",
            "Create a group",
            ObjectCodec.<CreateGroup>of()
                    .required("id", TEXT, CreateGroup::id)
                    .argument("GROUP", "Its id, such as the name of a company.")
                    .as(v -> new CreateGroup(v.next())),
            GROUP);

    static final ExtensionMethod<ArchiveGroup, Group> ARCHIVE = AdminRow.of(
            ArchiveGroup.class,
            "POST /groups/{id}/archive",
            "Disable all members of a group",
            ofGroup(ArchiveGroup::id).as(v -> new ArchiveGroup(v.next())),
            GROUP);

    static final ExtensionMethod<RestoreGroup, Group> RESTORE = AdminRow.of(
            RestoreGroup.class,
            "POST /groups/{id}/restore",
            "Enable the members of a group again",
            ofGroup(RestoreGroup::id).as(v -> new RestoreGroup(v.next())),
            GROUP);

    static final ExtensionMethod<ListUsers, List<User>> USERS = AdminRow.of(
            ListUsers.class,
            "GET /users",
            "List them",
            inGroup(ListUsers::group).as(v -> new ListUsers(v.next())),
            ObjectCodec.list("users", USER));

    static final ExtensionMethod<CreateUser, User> CREATE_USER = AdminRow.of(
            CreateUser.class,
            "POST /users",
            "Create a user",
            ObjectCodec.<CreateUser>of()
                    .required("group", TEXT, CreateUser::group)
                    .argument("GROUP", "The group; made if missing.")
                    .required("name", TEXT, CreateUser::user)
                    .argument("NAME", "The user.")
                    .as(v -> new CreateUser(v.next(), v.next())),
            USER);

    static final ExtensionMethod<DisableUser, User> DISABLE = AdminRow.of(
            DisableUser.class,
            "POST /users/{group}/{name}/disable",
            "Disable a user",
            ofUser(DisableUser::group, DisableUser::user).as(v -> new DisableUser(v.next(), v.next())),
            USER);

    static final ExtensionMethod<EnableUser, User> ENABLE = AdminRow.of(
            EnableUser.class,
            "POST /users/{group}/{name}/enable",
            "Enable a user",
            ofUser(EnableUser::group, EnableUser::user).as(v -> new EnableUser(v.next(), v.next())),
            USER);

    static final ExtensionMethod<ListKeys, List<KeyView>> KEYS = AdminRow.of(
            ListKeys.class,
            "GET /keys",
            "List them",
            inGroup(ListKeys::group).as(v -> new ListKeys(v.next())),
            ObjectCodec.list("keys", KEY));

    static final ExtensionMethod<CreateKey, NewKeyView> CREATE_KEY = AdminRow.of(
            CreateKey.class,
            "POST /keys",
            "Create a key; it is shown once",
            ObjectCodec.<CreateKey>of()
                    .required("group", TEXT, CreateKey::group)
                    .help("GROUP", "Group whose data the key gives access to; made if missing.")
                    .required("principal", TEXT, CreateKey::principal)
                    .help("NAME", "Principal that calls with the key; made if missing.")
                    .optional("scopes", TEXTS, List.of(), CreateKey::scopes)
                    .help("SCOPE", "Scope of the key; admin is for operators. Repeatable.")
                    .flag("--scope")
                    .optional("expires", TIME, CreateKey::expires)
                    .help("WHEN", "A duration such as 90d, or a date or time; default: never.")
                    .fromNow()
                    .as(v -> new CreateKey(v.next(), v.next(), v.next(), v.next())),
            NEW_KEY);

    static final ExtensionMethod<RotateKey, NewKeyView> ROTATE = AdminRow.of(
            RotateKey.class,
            "POST /keys/{id}/rotate",
            "Create the successor of a key",
            ofKey(RotateKey::id)
                    .optional("overlapSeconds", Codecs.seconds(LONGEST_OVERLAP), OVERLAP, RotateKey::overlap)
                    .help("DURATION", "How long the old key stays valid; default: 24h.")
                    .flag("--overlap")
                    .as(v -> new RotateKey(v.next(), v.next())),
            NEW_KEY);

    static final ExtensionMethod<RevokeKey, KeyView> REVOKE = AdminRow.of(
            RevokeKey.class,
            "POST /keys/{id}/revoke",
            "Revoke a key",
            ofKey(RevokeKey::id).as(v -> new RevokeKey(v.next())),
            KEY);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(
            GROUPS,
            USAGES,
            CREATE_GROUP,
            ARCHIVE,
            RESTORE,
            USERS,
            CREATE_USER,
            DISABLE,
            ENABLE,
            KEYS,
            CREATE_KEY,
            ROTATE,
            REVOKE);

    private static <T> ObjectCodec.Builder<T> ofGroup(Function<T, String> id) {
        return ObjectCodec.<T>of().required("id", TEXT, id).argument("GROUP", "The group.");
    }

    private static <T> ObjectCodec.Builder<T> inGroup(Function<T, @Nullable String> group) {
        return ObjectCodec.<T>of().optional("group", TEXT, group).help("GROUP", "Only of this group.");
    }

    private static <T> ObjectCodec.Builder<T> ofUser(Function<T, String> group, Function<T, String> user) {
        return ObjectCodec.<T>of()
                .required("group", TEXT, group)
                .argument("GROUP", "The group.")
                .required("name", TEXT, user)
                .argument("NAME", "The user.");
    }

    private static <T> ObjectCodec.Builder<T> ofKey(Function<T, String> id) {
        return ObjectCodec.<T>of().required("id", TEXT, id).argument("KEY-ID", "The id of the key, not the key.");
    }
}
