package dev.parley.mesh;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.LruMap;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Members of messages that this version does not know. They are ignored, with a line in the log; a signature covers them. Safe for any
 * thread.
 */
final class UnknownMembers {
    private static final Logger LOG = System.getLogger("dev.parley.mesh");
    private static final int MOST_SHOWN = 10;
    private static final int MOST_KEPT = 500;

    private final Map<String, Set<String>> known;
    private final Map<MessageType, Set<String>> contents;
    private final ReentrantLock lock = new ReentrantLock();
    /** Members that are in the log already, with their senders. */
    private final LruMap<String, Boolean> logged = new LruMap<>(MOST_KEPT);

    /**
     * @param known names of members by the path of their object
     * @param contents names of the members of contents
     */
    UnknownMembers(Map<String, Set<String>> known, Map<MessageType, Set<String>> contents) {
        this.known = known;
        this.contents = contents;
    }

    /** Names of the members of an object; none if any are allowed. */
    static Set<String> names(Codec<?> codec) {
        return codec instanceof ObjectCodec<?> shape
                ? Set.copyOf(shape.memberSchemas(member -> Map.of()).keySet())
                : Set.of();
    }

    /** Paths of the unknown members of a message, the first ones. */
    List<String> in(Map<?, ?> json, MessageType type) {
        var unknown = new ArrayList<String>();
        known.forEach((path, names) -> add(unknown, path, at(json, path), names));
        add(unknown, "message.content", at(json, "message.content"), contents.getOrDefault(type, Set.of()));
        return unknown;
    }

    private static Object at(Map<?, ?> json, String path) {
        Object found = json;
        for (String name : path.isEmpty() ? new String[0] : path.split("\\.", -1)) {
            Object next = found instanceof Map<?, ?> members ? members.get(name) : null;
            found = next == null ? Map.of() : next;
        }
        return found;
    }

    private static void add(List<String> unknown, String path, Object object, Set<String> names) {
        if (!names.isEmpty() && object instanceof Map<?, ?> members) {
            for (Object name : members.keySet()) {
                if (!names.contains(String.valueOf(name)) && unknown.size() < MOST_SHOWN) {
                    unknown.add((path.isEmpty() ? "" : path + ".") + name);
                }
            }
        }
    }

    /** Logs unknown members, once for each sender. */
    void log(Envelope envelope, Map<?, ?> json) {
        List<String> unknown = in(json, envelope.message().type());
        if (unknown.isEmpty()) {
            return;
        }
        String sender = Excerpt.line(envelope.from().agentId());
        String members = Excerpt.of(String.join(", ", unknown).replaceAll("[\\p{C}\\p{Z}&&[^ ]]", "?"), 300);
        if (isNew(sender + '\n' + members)) {
            LOG.log(Level.WARNING, "a message of \"{0}\" has unknown members, which are ignored: {1}", sender, members);
        }
    }

    private boolean isNew(String line) {
        lock.lock();
        try {
            return logged.put(line, true) == null;
        } finally {
            lock.unlock();
        }
    }
}
