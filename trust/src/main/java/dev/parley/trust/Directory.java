package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.SharedCopy;
import dev.parley.store.spi.StoreException;
import dev.parley.trust.tokens.KeyUses;
import dev.parley.trust.tokens.Secrets;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.SignIns;
import dev.parley.trust.tokens.TrustTables;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Groups of a hub, their members and API keys: in its database, and in memory for look-ups by every call.
 *
 * <p>Of keys only hashes are kept; a key itself is shown once, when it is made. A change applies to the next
 * call, and is in the {@linkplain AuditTrail audit} by the same transaction. Safe for any thread.
 */
public final class Directory {
    /** Prefix of every key, before its id. */
    public static final String KEY_PREFIX = "parley_";

    private static final int ID_BYTES = 6;
    private static final int SECRET_BYTES = 24;
    private static final String BLANK = " ";
    private static final String KEY = "API key";
    private static final String NEW_USER =
            "INSERT INTO trust_user (group_id, name, made_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    private static final String RENAME_USER = "UPDATE trust_user SET name = ? WHERE group_id = ? AND name = ?";
    private static final String KEYS =
            "SELECT key_id, group_id, principal, scopes, made_ms, expires_ms, revoked_ms, successor, hash FROM trust_key";

    /** A tenant: nothing of one group is seen by another. {@code archived} is the time since which its members are refused, or null. */
    public record Group(String id, Instant made, @Nullable Instant archived) {}

    /** A member of a group. {@code disabled} is the time since which it is refused, or null. */
    public record User(
            String group,
            String name,
            Instant made,
            @Nullable Instant disabled) {}

    /**
     * Public data of an API key.
     *
     * @param id by which people refer to it, and which the key itself shows
     * @param successor the key that was made to take over from it; null for none
     */
    public record Key(
            String id,
            String group,
            String principal,
            Set<String> scopes,
            Instant made,
            @Nullable Instant expires,
            @Nullable Instant revoked,
            @Nullable String successor) {
        public Key {
            scopes = Set.copyOf(scopes);
        }

        private Key with(@Nullable Instant expires, @Nullable Instant revoked, @Nullable String successor) {
            return new Key(id, group, principal, scopes, made, expires, revoked, successor);
        }
    }

    /** A new key, with its secret, which is never shown again. */
    public record NewKey(Key key, String secret) {}

    /** Author of a change and its address, for the audit. */
    public record Actor(String group, String name, String address) {
        /** An operator with access to the data directory. */
        public static final Actor OPERATOR = new Actor(Principal.DEFAULT_GROUP, "operator", "");

        /** @param subject the member that it is about, or empty */
        private AuditEntry did(String action, String target, String subject, Map<String, ?> detail) {
            return new AuditEntry(group, name, action, target, subject, "ok", address, "", detail);
        }
    }

    private record Member(String group, String name) {}

    private record Held(Key key, byte[] hash) {}

    private final Database database;
    private final AuditTrail audit;
    private final InstantSource clock;
    private final SharedCopy copy;
    private final Map<String, Group> groups = new ConcurrentHashMap<>();
    private final Map<Member, User> users = new ConcurrentHashMap<>();
    private final Map<String, Held> keys = new ConcurrentHashMap<>();
    private final KeyUses uses;
    private final DamagedRows damagedKeys = new DamagedRows(KEY);
    private volatile @Nullable Sessions sessions;
    /** True if some member may have been disabled and then erased. */
    private volatile boolean hasNameless;

    private Directory(Database database, AuditTrail audit, InstantSource clock) {
        this.database = database;
        this.audit = audit;
        this.clock = clock;
        this.uses = new KeyUses(database);
        this.copy = new SharedCopy(database.access().epochs(), Epoch.DIRECTORY);
    }

    /** The directory in a database, which has one. */
    public static Directory in(Database database, AuditTrail audit, InstantSource clock) {
        database.migrate(TrustTables.TABLES);
        var directory = new Directory(database, audit, clock);
        directory.copy.keep(() -> database.read(directory::load));
        database.listen(new GroupListener() {
            @Override
            public void reopened(DatabaseSession session) throws SQLException {
                directory.load(session);
            }
        });
        database.read(directory::load);
        return directory;
    }

    /**
     * Replaces the memory by the rows of the database. Takes no lock of changes, since a thread that changes something holds it while it
     * waits for the writer: a committed change that is not in memory yet is among the rows, and no later one is.
     */
    private boolean load(DatabaseSession session) throws SQLException {
        long turn = copy.beginReading();
        List<Group> readGroups = session.list(
                row -> new Group(
                        DatabaseSession.text(row, 1),
                        requireNonNull(DatabaseSession.time(row, 2)),
                        DatabaseSession.time(row, 3)),
                "SELECT group_id, made_ms, archived_ms FROM trust_group");
        List<User> readUsers = session.list(
                row -> new User(
                        DatabaseSession.text(row, 1),
                        DatabaseSession.text(row, 2),
                        requireNonNull(DatabaseSession.time(row, 3)),
                        DatabaseSession.time(row, 4)),
                "SELECT group_id, name, made_ms, disabled_ms FROM trust_user");
        List<Held> readKeys = damagedKeys.list(session, Directory::held, KEYS);
        // Groups and members first, for a key is good only if they are.
        copy.replace(turn, () -> {
            hasNameless |= readUsers.stream().anyMatch(user -> user.name().startsWith(AuditChain.FORGOTTEN));
            replace(groups, readGroups, Group::id);
            replace(users, readUsers, user -> new Member(user.group(), user.name()));
            replace(keys, readKeys, held -> held.key().id());
        });
        uses.load(session);
        return true;
    }

    /** Reasons why keys in a database cannot be read, by the ids of the keys, which are refused. Empty without a table of keys. */
    public static Map<String, String> damagedKeys(Database database) {
        try {
            return database.read(session -> {
                var damaged = new DamagedRows(KEY);
                damaged.list(session, Directory::held, KEYS);
                return damaged.reasons();
            });
        } catch (StoreException noTable) {
            return Map.of();
        }
    }

    private static Held held(ResultSet row) throws SQLException {
        var key = new Key(
                DatabaseSession.text(row, 1),
                DatabaseSession.text(row, 2),
                DatabaseSession.text(row, 3),
                scopes(DatabaseSession.text(row, 4)),
                requireNonNull(DatabaseSession.time(row, 5)),
                DatabaseSession.time(row, 6),
                DatabaseSession.time(row, 7),
                DatabaseSession.text(row, 8));
        return new Held(key, HexFormat.of().parseHex(DatabaseSession.text(row, 9)));
    }

    private static <K, V> void replace(Map<K, V> remembered, List<V> rows, Function<V, K> key) {
        Map<K, V> read = rows.stream().collect(Collectors.toMap(key, Function.identity()));
        remembered.putAll(read);
        remembered.keySet().retainAll(read.keySet());
    }

    private static Set<String> scopes(String text) {
        return text.isEmpty() ? Set.of() : Set.of(text.split(BLANK, -1));
    }

    /** Returns the time with the precision of the database. */
    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    // ---- Callers

    /** Returns the principal of a key; null if it is unknown, expired or revoked. */
    @Nullable
    Principal byKey(String secret) {
        byte[] hash = Secrets.hash(secret);
        Held held = keys.get(id(secret));
        boolean right = Secrets.equal(hash, held == null ? null : held.hash());
        return right ? used(held) : null;
    }

    /** Returns the id of a key; empty if it is unknown. */
    String idOf(String secret) {
        String id = id(secret);
        return keys.containsKey(id) ? id : "";
    }

    /** Returns the principal of the key of an id; null if it is unknown, expired or revoked. */
    @Nullable
    Principal byId(String id) {
        return used(keys.get(id));
    }

    private @Nullable Principal used(@Nullable Held held) {
        if (held == null || !isGood(held.key())) {
            return null;
        }
        uses.note(held.key().id(), now());
        return new Principal(
                held.key().group(), held.key().principal(), held.key().scopes());
    }

    /** Returns the last use of the key of an id; null if it has not been used. After a restart it may be an hour early. */
    public @Nullable Instant lastUse(String id) {
        return uses.last(id);
    }

    Database database() {
        return database;
    }

    /** Sign-ins of users, in the same database. */
    SignIns signIns(byte[] key) {
        return new SignIns(database, audit, key, clock);
    }

    /** Sessions of browsers, in the same database. */
    Sessions sessions(byte[] key) {
        var made = new Sessions(database, audit, key, clock);
        sessions = made;
        return made;
    }

    /** Expiry of the key with a secret; null if it has none, or is unknown. */
    @Nullable
    Instant expiry(String secret) {
        Held held = keys.get(id(secret));
        return held == null ? null : held.key().expires();
    }

    private static String id(String secret) {
        int end = secret.startsWith(KEY_PREFIX) ? secret.indexOf('_', KEY_PREFIX.length()) : -1;
        return end < 0 ? "" : secret.substring(KEY_PREFIX.length(), end);
    }

    private boolean isGood(Key key) {
        return key.revoked() == null
                && (key.expires() == null || key.expires().isAfter(now()))
                && isWelcome(key.group(), key.principal());
    }

    /** False if the group is archived or the member disabled: every credential of it is refused. */
    boolean isWelcome(String group, String name) {
        Group of = groups.get(group);
        User user = users.get(new Member(group, name));
        if (user == null && hasNameless) {
            user = users.get(new Member(group, AuditChain.hashed(member(group, name))));
        }
        return (of == null || of.archived() == null) && (user == null || user.disabled() == null);
    }

    /** True if some key that is good has a scope. */
    public boolean anyWith(String scope) {
        return keys.values().stream().anyMatch(held -> held.key().scopes().contains(scope) && isGood(held.key()));
    }

    // ---- Groups

    /** All groups, by their ids. */
    public List<Group> groups() {
        return groups.values().stream().sorted(Comparator.comparing(Group::id)).toList();
    }

    /**
     * Makes a group.
     *
     * @throws IllegalArgumentException if there is one of that id, or it cannot be an id
     */
    public Group createGroup(String id, Actor by) {
        Principal.requireGroup(id);
        return copy.change(() -> {
            if (groups.containsKey(id)) {
                throw new IllegalArgumentException("group \"" + id + "\": exists already (expected: a new id)");
            }
            var group = new Group(id, now(), null);
            write(
                    by.did("group.created", id, "", Map.of()),
                    session -> session.update(
                            // Another hub may have made the group since.
                            "INSERT INTO trust_group (group_id, made_ms) VALUES (?, ?) ON CONFLICT DO NOTHING",
                            id,
                            group.made()));
            groups.put(id, group);
            return group;
        });
    }

    /**
     * Disables or enables the members of a group. Their data stays.
     *
     * @throws IllegalArgumentException if there is no such group
     */
    public Group archiveGroup(String id, boolean archived, Actor by) {
        return copy.change(() -> {
            Group before = known(groups.get(id), "group", id);
            var group = new Group(id, before.made(), archived ? now() : null);
            String action = archived ? "group.archived" : "group.restored";
            write(
                    by.did(action, id, "", Map.of()),
                    session -> session.update(
                            "UPDATE trust_group SET archived_ms = ? WHERE group_id = ?", group.archived(), id));
            groups.put(id, group);
            return group;
        });
    }

    // ---- Users

    /** The members of a group, or of all if it is null, by group and name. */
    public List<User> users(@Nullable String group) {
        return users.values().stream()
                .filter(user -> group == null || user.group().equals(group))
                .sorted(Comparator.comparing(User::group).thenComparing(User::name))
                .toList();
    }

    /**
     * Makes a member of a group, and the group too if there is none.
     *
     * @throws IllegalArgumentException if there is one of that name, or it cannot be a name
     */
    public User createUser(String group, String name, Actor by) {
        Principal.requireName(name);
        return copy.change(() -> {
            var member = new Member(group, name);
            if (users.containsKey(member)) {
                throw new IllegalArgumentException(
                        "user \"" + name + "\" of group \"" + group + "\": exists already (expected: a new name)");
            }
            if (!groups.containsKey(group)) {
                createGroup(group, by);
            }
            var user = new User(group, name, now(), null);
            String hash = AuditChain.hashed(member(group, name));
            write(by.did("user.created", group, member(group, name), Map.of()), session -> {
                session.update("DELETE FROM trust_user WHERE group_id = ? AND name = ?", group, hash);
                session.update(NEW_USER, group, name, user.made());
            });
            users.remove(new Member(group, hash));
            users.put(member, user);
            return user;
        });
    }

    /**
     * Refuses all credentials of a member, or admits it again.
     *
     * @throws IllegalArgumentException if there is no such member
     */
    public User disableUser(String group, String name, boolean disabled, Actor by) {
        return copy.change(() -> {
            var member = new Member(group, name);
            User before = known(users.get(member), "user", member(group, name));
            var user = new User(group, name, before.made(), disabled ? now() : null);
            String action = disabled ? "user.disabled" : "user.enabled";
            write(
                    by.did(action, group, member(group, name), Map.of()),
                    session -> session.update(
                            "UPDATE trust_user SET disabled_ms = ? WHERE group_id = ? AND name = ?",
                            user.disabled(),
                            group,
                            name));
            users.put(member, user);
            return user;
        });
    }

    // ---- Keys

    /** The keys of a group, or of all if it is null, the oldest first. */
    public List<Key> keys(@Nullable String group) {
        return keys.values().stream()
                .map(Held::key)
                .filter(key -> group == null || key.group().equals(group))
                .sorted(Comparator.comparing(Key::made).thenComparing(Key::id))
                .toList();
    }

    /**
     * Makes a key, and group and member too if they are not there.
     *
     * @param expires null for never
     * @throws IllegalArgumentException if a name cannot be one, or the time is over already
     */
    public NewKey createKey(
            String group, String principal, Collection<String> scopes, @Nullable Instant expires, Actor by) {
        return copy.change(() -> createKey(group, principal, new TreeSet<>(scopes), expires, by, null));
    }

    private NewKey createKey(
            String group,
            String principal,
            Set<String> scopes,
            @Nullable Instant expires,
            Actor by,
            @Nullable Key before) {
        scopes.forEach(Authentication::requireScope);
        if (expires != null && !expires.isAfter(now())) {
            throw new IllegalArgumentException("expires: " + expires + " (expected: a time to come)");
        }
        if (!users.containsKey(new Member(group, principal))) {
            createUser(group, principal, by);
        }
        var key = new Key(Secrets.random(ID_BYTES), group, principal, scopes, now(), expires, null, null);
        String secret = KEY_PREFIX + key.id() + "_" + Secrets.random(SECRET_BYTES);
        byte[] hash = Secrets.hash(secret);
        String action = before == null ? "key.created" : "key.rotated";
        Map<String, Object> detail = Map.of("group", group, "scopes", List.copyOf(scopes));
        write(by.did(action, key.id(), member(group, principal), detail), session -> {
            session.update(
                    "INSERT INTO trust_key (key_id, group_id, principal, scopes, hash, made_ms, expires_ms)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    key.id(),
                    group,
                    principal,
                    String.join(BLANK, scopes),
                    HexFormat.of().formatHex(hash),
                    key.made(),
                    expires);
            if (before != null) {
                update(session, before.with(before.expires(), before.revoked(), key.id()));
            }
        });
        keys.put(key.id(), new Held(key, hash));
        return new NewKey(key, secret);
    }

    /**
     * Makes a key that takes over from another, which goes on for a while.
     *
     * @param overlap how long the old one is still good; zero for not at all
     * @throws IllegalArgumentException if there is no such key, or it is no longer good
     */
    public NewKey rotateKey(String id, Duration overlap, Actor by) {
        return copy.change(() -> {
            Held held = known(keys.get(id), "key", id);
            Key key = held.key();
            if (key.revoked() != null || key.successor() != null) {
                throw new IllegalArgumentException("key: " + id
                        + (key.revoked() != null ? " is revoked" : " was rotated to " + key.successor())
                        + " (expected: one that is good)");
            }
            Instant end = now().plus(overlap);
            Key last = key.with(key.expires() != null && key.expires().isBefore(end) ? key.expires() : end, null, null);
            NewKey next = createKey(key.group(), key.principal(), key.scopes(), renewed(key), by, last);
            keys.put(id, new Held(last.with(last.expires(), null, next.key().id()), held.hash()));
            return next;
        });
    }

    /** A key that was good for some time is followed by one that is good for as long. */
    private @Nullable Instant renewed(Key key) {
        return key.expires() == null ? null : now().plus(Duration.between(key.made(), key.expires()));
    }

    /**
     * Ends a key, from the next call on.
     *
     * @throws IllegalArgumentException if there is no such key
     */
    public Key revokeKey(String id, Actor by) {
        return copy.change(() -> {
            Held held = known(keys.get(id), "key", id);
            if (held.key().revoked() != null) {
                return held.key();
            }
            Key key = held.key().with(held.key().expires(), now(), held.key().successor());
            write(
                    by.did("key.revoked", id, member(key.group(), key.principal()), Map.of("group", key.group())),
                    session -> update(session, key));
            keys.put(id, new Held(key, held.hash()));
            return key;
        });
    }

    private static void update(DatabaseSession session, Key key) throws SQLException {
        session.update(
                // Another hub may have revoked or rotated the key since.
                "UPDATE trust_key SET expires_ms = ?, revoked_ms = coalesce(?, revoked_ms),"
                        + " successor = coalesce(?, successor) WHERE key_id = ?",
                key.expires(),
                key.revoked(),
                key.successor(),
                key.id());
    }

    // ---- Changing

    /**
     * Removes a member and its keys, as if they had never been; nothing happens if there is none. Of a disabled one
     * a hash stays, because it may have other credentials than keys; enabling that name, or creating it again, admits it.
     *
     * @return how many keys it had
     */
    public int erase(String group, String name) {
        return copy.change(() -> {
            List<String> ids = keys.values().stream()
                    .map(Held::key)
                    .filter(key -> key.group().equals(group) && key.principal().equals(name))
                    .map(Key::id)
                    .toList();
            User user = users.get(new Member(group, name));
            User shutOut = user == null || user.disabled() == null
                    ? null
                    : new User(group, AuditChain.hashed(member(group, name)), user.made(), user.disabled());
            copy.changed(database.erase(session -> {
                session.update("DELETE FROM trust_key WHERE group_id = ? AND principal = ?", group, name);
                session.update("DELETE FROM trust_sign_in WHERE group_id = ? AND principal = ?", group, name);
                session.update("DELETE FROM trust_session WHERE group_id = ? AND principal = ?", group, name);
                if (shutOut == null) {
                    session.update("DELETE FROM trust_user WHERE group_id = ? AND name = ?", group, name);
                } else {
                    session.update(RENAME_USER, shutOut.name(), group, name);
                }
                return copy.bump(session);
            }));
            ids.forEach(keys::remove);
            uses.forget(ids);
            if (shutOut != null) {
                users.put(new Member(group, shutOut.name()), shutOut);
                hasNameless = true;
            }
            users.remove(new Member(group, name));
            Sessions remembered = sessions;
            if (remembered != null) {
                remembered.forget(group, name);
            }
            return ids.size();
        });
    }

    private interface Change {
        void write(DatabaseSession session) throws SQLException;
    }

    private void write(AuditEntry entry, Change change) {
        copy.changed(database.write(session -> {
            change.write(session);
            audit.add(session, entry);
            return copy.bump(session);
        }));
    }

    private static <T> T known(@Nullable T found, String what, String id) {
        if (found == null) {
            throw new IllegalArgumentException(what + ": " + id + " (expected: one that there is)");
        }
        return found;
    }

    private static String member(String group, String name) {
        return group + "/" + name;
    }
}
