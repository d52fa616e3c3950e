package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.TRUTH;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.Memories.Memory;
import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.extension.PersonalRead;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations on the data about a principal or a context. */
final class PrivacyOperation {
    private static final long TASKS_BY_DEFAULT = 100;
    private static final long MOST_TASKS = 1_000;
    private static final long MOST_MEMORIES = 100;

    private PrivacyOperation() {}

    /** @param after tasks after that of this id; null for the first */
    @AdminCall.Named("privacy/tasks")
    record ListTasks(
            String group,
            @Nullable String principal,
            @Nullable String contextId,
            @Nullable String after,
            long limit) implements AdminCall<List<Task>>, PersonalRead {}

    /**
     * @param after the token of the next page; null for the first
     * @param limit memories of a page at most
     */
    @AdminCall.Named("privacy/memories")
    record ListMemories(
            String group,
            @Nullable String principal,
            @Nullable String contextId,
            @Nullable String after,
            long limit) implements AdminCall<MemoryPage>, PersonalRead {}

    /** @param next the token of the next page; null at the end */
    record MemoryPage(List<Memory> memories, @Nullable String next) {}

    /** @param withStatements whether statements are removed that only the principal made */
    @AdminCall.Named("privacy/erase")
    record Erase(
            String group,
            @Nullable String principal,
            @Nullable String contextId,
            boolean withStatements) implements AdminCall<Erased>, PersonalRead {}

    /**
     * Counts of the erased records.
     *
     * @param keys null if the hub keeps no members, or a context was erased
     * @param held of extensions by their names
     * @param auditRows null for no audit
     * @param pending data that is not erased yet; null if all is erased
     */
    record Erased(
            @Nullable Long keys,
            long tasks,
            @Nullable Long auditRows,
            @Nullable String pending,
            Map<String, Object> held) {
        /** The numbers by their names. */
        Map<String, Object> numbers() {
            var numbers = new LinkedHashMap<String, Object>();
            if (keys != null) {
                numbers.put("keys", keys);
            }
            numbers.put("tasks", tasks);
            numbers.putAll(held);
            if (auditRows != null) {
                numbers.put("auditRows", auditRows);
            }
            return numbers;
        }
    }

    private static final Codec<Erased> ERASED = ObjectCodec.<Erased>of()
            .optional("keys", COUNT, Erased::keys)
            .required("tasks", COUNT, Erased::tasks)
            .optional("auditRows", COUNT, Erased::auditRows)
            .optional("pending", TEXT, Erased::pending)
            .others(erased -> new LinkedHashMap<>(erased.held()), Set.of())
            .as(v -> new Erased(v.next(), v.next(), v.next(), v.next(), v.next()));

    static final ExtensionMethod<ListTasks, List<Task>> TASKS = AdminRow.of(
            ListTasks.class,
            "GET /privacy/tasks",
            "List the tasks of a principal or a context",
            PrivacyOperation.<ListTasks>subject(ListTasks::principal, ListTasks::group, ListTasks::contextId)
                    .optional("after", TEXT, ListTasks::after)
                    .help("ID", "Tasks after this one.")
                    .optional("limit", Codecs.number(0, MOST_TASKS), TASKS_BY_DEFAULT, ListTasks::limit)
                    .help("TASKS", "How many at most; default: 100.")
                    .as(v -> {
                        String principal = v.next();
                        return new ListTasks(v.next(), principal, v.next(), v.next(), v.<Long>next());
                    }),
            ObjectCodec.list("tasks", InstalledExtensions.codec(Task.class)));

    private static final Codec<Memory> MEMORY = ObjectCodec.<Memory>of()
            .required("group", TEXT, memory -> memory.key().owner().group())
            .required("owner", TEXT, memory -> memory.key().owner().owner())
            .required("agent", TEXT, memory -> memory.key().agent())
            .required("contextId", TEXT, memory -> memory.key().contextId())
            .required("time", TIME, Memory::written)
            .required("text", TEXT, Memory::text)
            .as(v -> new Memory(
                    new Memories.Key(new Scope(v.next(), v.next()), v.next(), v.next()), v.next(), v.next()));

    static final ExtensionMethod<ListMemories, MemoryPage> MEMORIES = AdminRow.of(
            ListMemories.class,
            "GET /privacy/memories",
            "List the memories of agents about conversations of a principal, or in a context",
            PrivacyOperation.<ListMemories>subject(
                            ListMemories::principal, ListMemories::group, ListMemories::contextId)
                    .optional("after", TEXT, ListMemories::after)
                    .help("TOKEN", "The member next of the page before.")
                    .optional("limit", Codecs.number(1, MOST_MEMORIES), MOST_MEMORIES, ListMemories::limit)
                    .help("MEMORIES", "How many at most; default: 100.")
                    .as(v -> {
                        String principal = v.next();
                        return new ListMemories(v.next(), principal, v.next(), v.next(), v.<Long>next());
                    }),
            ObjectCodec.<MemoryPage>of()
                    .required("memories", Codecs.list(MEMORY), MemoryPage::memories)
                    .optional("next", TEXT, MemoryPage::next)
                    .as(v -> new MemoryPage(v.next(), v.next())));

    static final ExtensionMethod<Erase, Erased> ERASE = AdminRow.of(
            Erase.class,
            "POST /privacy/erase",
            "Erase the data of a user for good",
            PrivacyOperation.<Erase>subject(Erase::principal, Erase::group, Erase::contextId)
                    .always("statements", TRUTH, false, Erase::withStatements)
                    .help("", "Also remove statements that only this principal made.")
                    .flag("--with-statements")
                    .inQuery()
                    .as(v -> {
                        String principal = v.next();
                        return new Erase(v.next(), principal, v.next(), v.next());
                    }),
            ERASED);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(TASKS, MEMORIES, ERASE);

    private static <T> ObjectCodec.Builder<T> subject(
            Function<T, @Nullable String> principal,
            Function<T, String> group,
            Function<T, @Nullable String> contextId) {
        return ObjectCodec.<T>of()
                .optional("principal", TEXT, principal)
                .help("NAME", "The principal, as its keys or tokens name it.")
                .flag("--subject")
                .inQuery()
                .optional("group", TEXT, AdminCall.DEFAULT_GROUP, group)
                .help("GROUP", "Its group; default: default.")
                .inQuery()
                .optional("contextId", TEXT, contextId)
                .help("ID", "Only this context, of any owner.")
                .flag("--context")
                .inQuery();
    }
}
