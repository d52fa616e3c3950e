package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A change and its place in the order of all.
 *
 * @param replaced other statements that it removed
 * @param types types of its subject at that time; null if no rule depends on them
 */
public record Numbered(
        long number,
        Change change,
        List<Statement> replaced,
        @Nullable Set<String> types) {
    public Numbered {
        replaced = List.copyOf(replaced);
        types = types == null ? null : Set.copyOf(types);
    }

    /** Returns the types that rules apply to: those at the time of the change, else the present ones. */
    public Function<String, Set<String>> types(Function<String, Set<String>> now) {
        String subject = change.statement().subject().id();
        return types == null ? now : id -> id.equals(subject) ? types : now.apply(id);
    }

    /**
     * Returns the part of this change that a reader may see, or null if there is none. A reader may see a statement but not
     * all statements or types that it replaced; a removal names the statement, so the reader must be allowed to see that.
     */
    @Nullable
    public Numbered seenBy(Predicate<Statement> reader) {
        List<Statement> seen = replaced.stream().filter(reader).toList();
        boolean all = seen.size() == replaced.size();
        if (!reader.test(change.statement()) || change.op() == Patch.Op.REMOVE && !all) {
            return null;
        }
        Statement said = change.statement();
        boolean mentionsTypes =
                said.subject().type() != null || said.object() instanceof Resource resource && resource.type() != null;
        if (all && !mentionsTypes) {
            return this;
        }
        Resource subject = withSeenType(said.subject(), reader);
        Term object = said.object() instanceof Resource resource ? withSeenType(resource, reader) : said.object();
        var shown = new Statement(subject, said.predicate(), object, said.graph(), said.certainty(), said.provenance());
        var metadata = new LinkedHashMap<>(change.metadata());
        if (!all) {
            metadata.remove("replaced");
        }
        if (!all && !seen.isEmpty()) {
            metadata.put("replaced", ReplacedStatements.values(seen));
        }
        return new Numbered(
                number, new Change(change.op(), shown, change.changeId(), change.timestamp(), metadata), seen, types);
    }

    private Resource withSeenType(Resource resource, Predicate<Statement> reader) {
        return resource.type() == null || reader.test(type(resource, change.statement()))
                ? resource
                : Resource.of(resource.id());
    }

    /** The statement that a type which is mentioned stands for. */
    public static Statement type(Resource resource, Statement with) {
        return new Statement(
                Resource.of(resource.id()),
                Term.TYPE,
                Resource.of(Objects.requireNonNull(resource.type())),
                with.graph(),
                with.certainty(),
                with.provenance());
    }

    long characters() {
        return Characters.of(change)
                + replaced.stream().mapToLong(Characters::of).sum();
    }
}
