package dev.parley.cli.host;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.store.move.DatabaseCopy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Description of a backup, as JSON in its archive.
 *
 * @param version version of Parley that wrote it
 * @param created its time, in ISO 8601
 * @param schema version of the tables of tasks
 * @param modules versions of the tables of modules, by their names
 */
record BackupManifest(String version, String created, long schema, Map<String, Integer> modules, List<Member> members) {
    /** A file of the data directory. Its name is its path there, with slashes. */
    record Member(String name, long bytes, String sha256) {}

    /** Name of the manifest in the archive. */
    static final String NAME = "manifest.json";

    /** Name of the lock in a data directory. */
    static final String LOCK = "parley.lock";

    private static final String FORMAT = "parleyBackup";
    private static final Pattern UNFIT = Pattern.compile("[\\\\:\\p{Cntrl}]");
    private static final String EXPECTED = " (expected: an archive of parley backup)";

    /** Files that a hub makes for the directory that it runs in. One in an archive would change what the restored database is. */
    private static final Set<String> FORBIDDEN = Set.of(LOCK, "database.url", NAME);

    BackupManifest {
        modules = Map.copyOf(modules);
        members = List.copyOf(members);
    }

    /** Bytes of all files. */
    long bytes() {
        return members.stream().mapToLong(Member::bytes).sum();
    }

    byte[] json() {
        var document = new LinkedHashMap<String, Object>();
        document.put(FORMAT, 1);
        document.put("version", version);
        document.put("created", created);
        document.put("schema", schema);
        document.put("modules", modules);
        document.put(
                "members",
                members.stream()
                        .map(member -> Map.of("name", member.name, "bytes", member.bytes, "sha256", member.sha256))
                        .toList());
        return Json.write(document);
    }

    /** @throws IllegalArgumentException if it is another document, or has names that a data directory cannot have */
    static BackupManifest read(byte[] json) {
        Map<?, ?> document;
        try {
            document = Json.read(json, Map.class);
        } catch (A2AException wrong) {
            throw new IllegalArgumentException(NAME + ": no JSON object" + EXPECTED, wrong);
        }
        long format = number(document.get(FORMAT), FORMAT);
        if (format != 1) {
            throw new IllegalArgumentException(
                    NAME + ": version " + format + " (expected: 1; a newer Parley wrote the backup)");
        }
        var modules = new LinkedHashMap<String, Integer>();
        object(document.get("modules"), "modules")
                .forEach((name, version) -> modules.put(
                        String.valueOf(name), (int) Math.min(number(version, "modules"), Integer.MAX_VALUE)));
        var members = new ArrayList<Member>();
        var names = new HashSet<String>();
        for (Object entry : document.get("members") instanceof List<?> list ? list : List.of()) {
            Map<?, ?> member = object(entry, "members");
            String name = name(text(member.get("name"), "name"));
            if (!names.add(name)) {
                throw new IllegalArgumentException(
                        "file \"" + name + "\": duplicate name (expected: one of each name)");
            }
            members.add(new Member(name, number(member.get("bytes"), "bytes"), text(member.get("sha256"), "sha256")));
        }
        if (!names.contains(DatabaseCopy.FILE)) {
            throw new IllegalArgumentException(NAME + ": no file \"" + DatabaseCopy.FILE + "\"" + EXPECTED);
        }
        return new BackupManifest(
                text(document.get("version"), "version"),
                text(document.get("created"), "created"),
                number(document.get("schema"), "schema"),
                modules,
                members);
    }

    private static String name(String name) {
        String problem = problem(name);
        if (problem != null) {
            throw new IllegalArgumentException("file \"" + name + "\": " + problem
                    + " (expected: a path below the data directory, without \"..\")");
        }
        return name;
    }

    /** Why a file of this name is not in an archive; null if it may be. */
    static @Nullable String problem(String name) {
        for (String part : name.split("/", -1)) {
            if (part.isEmpty()
                    || part.equals(".")
                    || part.equals("..")
                    || UNFIT.matcher(part).find()) {
                return "the name leaves the directory, or does so on other systems";
            }
        }
        boolean isOfDatabase = name.startsWith(DatabaseCopy.FILE) && !name.equals(DatabaseCopy.FILE);
        return isOfDatabase || FORBIDDEN.contains(name) ? "not part of a backup" : null;
    }

    private static Map<?, ?> object(@Nullable Object value, String member) {
        if (value instanceof Map<?, ?> object) {
            return object;
        }
        throw missing(member);
    }

    private static long number(@Nullable Object value, String member) {
        if (value instanceof Number number && number.longValue() >= 0) {
            return number.longValue();
        }
        throw missing(member);
    }

    private static String text(@Nullable Object value, String member) {
        if (value instanceof String text) {
            return text;
        }
        throw missing(member);
    }

    private static IllegalArgumentException missing(String member) {
        return new IllegalArgumentException(NAME + ": no valid \"" + member + "\"" + EXPECTED);
    }
}
