package dev.parley.knowledge;

import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.Alignment.Rule;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.changes.Proposal;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.journal.Changes;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.GraphView;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.GraphWriting.Left;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.knowledge.store.SqlWriting.Coming;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Executes one update on the writer thread, atomically: rules, changes and records. */
final class Updates {
    private static final int PAGE = 1_000;

    /** Limit of statements that one patch replaces: watchers receive all of them. */
    private static final int MAX_REPLACED = 10_000;

    private static final int MAX_REPLACED_CHARACTERS = 4 << 20;

    /** Limit of the idempotency key, in characters. */
    private static final int MAX_KEY = 500;

    /**
     * Result of an update, with the changes that watchers receive.
     *
     * @param before number of the newest change before them
     */
    record Outcome(UpdateResult result, List<Numbered> changes, long before) {
        static Outcome of(UpdateResult result) {
            return new Outcome(result, List.of(), 0);
        }
    }

    /** The effect of an update was refused. Thrown to roll it back. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient UpdateResult result;

        /** An update breaks constraints. */
        static Refused by(List<String> violations) {
            return new Refused(new UpdateResult(
                    false, 0, List.of(), Verification.REJECTED_BY_CONSTRAINT, String.join("; ", violations)));
        }

        private Refused(UpdateResult result) {
            super(result.verificationDetails(), null, false, false);
            this.result = result;
        }

        UpdateResult result() {
            return result;
        }
    }

    /** Decides whether the effect of an update stands. On the writer thread, so that it must not compute. */
    interface Constraints {
        /** Throws an exception if the update is to be undone. */
        void check(GraphWriting writing, Supplier<Proposal> effect) throws SQLException;
    }

    /** Lets every update stand. */
    static final Constraints UNCHECKED = (writing, effect) -> {};

    private final ChangeStore journal;
    private final Alignment rules;
    private final Constraints constraints;
    private final CallContext context;
    private final Update update;
    private final @Nullable String approvedBy;

    private final List<Numbered> changes = new ArrayList<>();
    private final Set<String> affected = new LinkedHashSet<>();

    /** Subjects to validate against shapes, including those that only gained a type. */
    private final Set<String> touched = new LinkedHashSet<>();

    private int count;
    private int leftOut;
    private boolean denied;
    private @Nullable Rule rejecting;
    private @Nullable Rule reviewing;

    /**
     * Prepares an update.
     *
     * @param constraints receive the effect once it is known
     * @param approvedBy principal that approved the update, so that no rule holds it for review again; null if none did
     */
    Updates(
            ChangeStore journal,
            Alignment rules,
            Constraints constraints,
            CallContext context,
            Update update,
            @Nullable String approvedBy) {
        this.journal = journal;
        this.rules = rules;
        this.constraints = constraints;
        this.context = context;
        this.update = update;
        this.approvedBy = approvedBy;
    }

    /**
     * Does it.
     *
     * @throws A2AException KNOWLEDGE_UPDATE if the graph has changed since, ALIGNMENT_VIOLATION if a rule forbids it
     * @throws RuntimeException if the constraints have it undone
     */
    Outcome make(GraphWriting writing) throws SQLException {
        String key = text(update.metadata().get("idempotencyKey"));
        requireShort("metadata.idempotencyKey", key);
        requireShort("sourceAgentId", update.sourceAgentId());
        requireShort("taskId", update.taskId());
        requireShort("sessionId", update.sessionId());
        if (key != null) {
            Optional<UpdateResult> before =
                    writing.ask((session, space) -> journal.answers().find(session, space, context.caller(), key));
            if (before.isPresent()) {
                return Outcome.of(before.get());
            }
        }
        requireRevision(writing);
        Outcome outcome = judgeAndApply(writing);
        if (key != null) {
            journal.answers().keep(writing, context.caller(), key, outcome.result());
        }
        return outcome;
    }

    /**
     * Inserts statements without evaluating rules. Most are expected to be new, so each is inserted first and looked up only if
     * it exists.
     *
     * @param watched whether the changes have subscribers
     */
    Outcome load(GraphWriting writing, List<Statement> statements, boolean watched) throws SQLException {
        Stamps stamps = Stamps.of(context, update, approvedBy);
        if (writing instanceof SqlWriting tables) {
            load(tables, statements, watched, stamps);
        } else {
            apply(
                    writing,
                    writing,
                    statements.stream().map(one -> Patch.add(stamps.on(one))).toList(),
                    stamps);
        }
        return new Outcome(
                new UpdateResult(true, count, List.of(), Verification.VERIFIED, null),
                changes,
                writing.numberedBefore());
    }

    private void load(SqlWriting writing, List<Statement> statements, boolean watched, Stamps stamps)
            throws SQLException {
        long source = writing.source(stamps.members());
        Map<String, @Nullable Object> more = null;
        var known = new ArrayList<Patch>();
        for (int from = 0; from < statements.size(); from += PAGE) {
            List<Statement> some = statements.subList(from, Math.min(from + PAGE, statements.size())).stream()
                    .map(stamps::on)
                    .toList();
            List<Coming> coming = writing.coming(some);
            more = more == null
                    ? stamps.in(writing.space().changeId(coming.getFirst().change()))
                    : more;
            Set<Long> held = journal.changes().add(writing, coming, source, more);
            for (Coming one : coming) {
                if (held.contains(one.change())) {
                    known.add(Patch.add(one.statement()));
                    continue;
                }
                count++;
                writing.change(one.change());
                writing.hints(one.key(), one.statement(), source);
                if (watched) {
                    changes.add(Changes.numbered(
                            writing, one.change(), Patch.Op.ADD, one.statement(), List.of(), null, more));
                }
            }
        }
        apply(writing, writing, known, stamps);
    }

    /** Removes the statements of a source; those that other sources repeat stay as theirs. Rules and shapes are not evaluated. */
    Outcome withdraw(GraphWriting writing, List<Statement> said, String source) throws SQLException {
        Stamps stamps = Stamps.of(context, update, approvedBy);
        Map<String, Set<String>> types = rules.readsByTypes()
                ? types(writing, said.stream().map(Patch::remove).toList())
                : Map.of();
        String transaction = null;
        long change = 0;
        writing.expect(said);
        for (Statement one : said) {
            change = change == 0 ? writing.nextChange() : change;
            writing.change(change);
            Left left = writing.withdraw(one, source);
            if (left == Left.AS_IT_WAS) {
                continue;
            }
            transaction = transaction == null ? writing.space().changeId(change) : transaction;
            boolean stays = left == Left.OF_OTHERS;
            changes.add(journal.changes()
                    .append(
                            writing,
                            change,
                            stays ? Patch.Op.ADD : Patch.Op.REMOVE,
                            stays ? writing.find(one).getFirst().statement() : one.withProvenance(stamps.members()),
                            stays ? List.of() : List.of(one),
                            types.get(one.subject().id()),
                            stamps.in(transaction)));
            change = 0;
            count++;
        }
        return new Outcome(
                new UpdateResult(true, count, List.of(), Verification.VERIFIED, null),
                changes,
                writing.numberedBefore());
    }

    /** Checks the length of texts that are indexed, since index entries must be short. */
    private static void requireShort(String field, @Nullable String value) {
        if (value != null && (value.isEmpty() || value.length() > MAX_KEY)) {
            throw A2AException.invalidParams(field, value.length() + " characters (expected: 1 to " + MAX_KEY + ")");
        }
        try {
            Term.unicode(field, value == null ? "" : value);
        } catch (InvalidField wrong) {
            throw A2AException.invalidParams(wrong.field(), wrong.problem());
        }
    }

    private void requireRevision(GraphWriting writing) {
        Object expected = update.metadata().get("ifRevision");
        if (expected == null) {
            return;
        }
        long revision = writing.revision();
        if (!(expected instanceof Number number) || number.longValue() != revision) {
            throw A2AException.of(
                    KnowledgeError.KNOWLEDGE_UPDATE,
                    KnowledgeError.KNOWLEDGE_UPDATE.defaultMessage(),
                    Map.of("reason", "conflict", "ifRevision", expected.toString(), "revision", "" + revision));
        }
    }

    private Outcome judgeAndApply(GraphWriting writing) throws SQLException {
        var accepted = new ArrayList<Patch>();
        Stamps stamps = Stamps.of(context, update, approvedBy);
        for (Patch one : update.mutations()) {
            Statement statement = stamps.on(one.statement());
            if (isAccepted(writing, statement)) {
                boolean says = one.op() != Patch.Op.REMOVE;
                accepted.add(new Patch(one.op(), says ? withAcceptedTypes(writing, statement) : statement));
            }
        }
        if (rejecting != null) {
            return refused(Verification.REJECTED_BY_CONSTRAINT, why(rejecting));
        }
        if (denied) {
            return refused(Verification.REJECTED_BY_POLICY, "no rule allows it");
        }
        if (reviewing != null && approvedBy == null) {
            long number = journal.reviews().hold(writing, context.caller(), withoutSecrets(update), why(reviewing));
            return Outcome.of(new UpdateResult(
                    true, 0, List.of(), Verification.PENDING, "review " + number + ": " + why(reviewing)));
        }
        GraphView seen = writing.seenBy(rules.readFilter(On.QUERY, context.caller()));
        apply(writing, seen, accepted, stamps);
        if (!touched.isEmpty()) {
            constraints.check(writing, () -> effect(writing, seen));
        }
        String details = leftOut == 0 ? null : leftOut + " of the mutations were left out by a rule";
        return new Outcome(
                new UpdateResult(true, count, List.copyOf(affected), Verification.VERIFIED, details),
                changes,
                writing.numberedBefore());
    }

    private Proposal effect(GraphWriting writing, GraphView seen) {
        var changed = new ArrayList<Proposal.Changed>();
        writing.changed()
                .forEach((statement, held) ->
                        changed.add(new Proposal.Changed(statement, held, held && isSeen(seen, statement))));
        return new Proposal(touched, changed);
    }

    /** Evaluates the rules for a statement and records their effect on the whole update. */
    private boolean isAccepted(GraphWriting writing, Statement statement) {
        Rule rule = rules.ofUpdate(statement, context.caller(), id -> types(writing, id))
                .orElse(null);
        switch (rule == null ? rules.otherwise() : rule.effect()) {
            case FORBID -> throw Objects.requireNonNull(rule).violation();
            case REJECT -> rejecting = rejecting == null ? rule : rejecting;
            case DENY -> denied = true;
            case REDACT -> leftOut++;
            case REVIEW -> {
                reviewing = reviewing == null ? rule : reviewing;
                return true;
            }
            case ALLOW -> {
                return true;
            }
        }
        return false;
    }

    /** Evaluates the rules for a mentioned type, which becomes a statement like any other. */
    private Statement withAcceptedTypes(GraphWriting writing, Statement statement) {
        Resource subject = statement.subject();
        Resource object = statement.object() instanceof Resource resource ? resource : null;
        boolean keepsSubject = isAcceptedType(writing, subject, statement);
        boolean keepsObject = object == null || isAcceptedType(writing, object, statement);
        return new Statement(
                keepsSubject ? subject : Resource.of(subject.id()),
                statement.predicate(),
                object == null || keepsObject ? statement.object() : Resource.of(object.id()),
                statement.graph(),
                statement.certainty(),
                statement.provenance());
    }

    private boolean isAcceptedType(GraphWriting writing, Resource resource, Statement with) {
        if (resource.type() == null || rules.equals(Alignment.NONE)) {
            return true;
        }
        return isAccepted(writing, Numbered.type(resource, with));
    }

    private static Outcome refused(String status, String details) {
        return Outcome.of(new UpdateResult(false, 0, List.of(), status, details));
    }

    private static String why(Rule rule) {
        return rule.message() == null ? "rule " + rule.id() : "rule " + rule.id() + ": " + rule.message();
    }

    private static Set<String> types(GraphWriting writing, String id) {
        return writing.types(List.of(id)).getOrDefault(id, Set.of());
    }

    /** Returns the update as stored while it waits for approval: of its metadata only the member that says how to apply it. */
    private static Update withoutSecrets(Update update) {
        Object mode = update.metadata().get("replaceMode");
        return update.with(mode == null ? Map.of() : Map.of("replaceMode", mode));
    }

    // ---- Execution

    /**
     * Applies patches to the statements that the caller may see. Hidden statements are not removed, and the answer is the same
     * as if they did not exist.
     */
    private void apply(GraphWriting writing, GraphView seen, List<Patch> patches, Stamps stamps) throws SQLException {
        boolean annotates = "annotation".equals(update.metadata().get("replaceMode"));
        Map<String, Set<String>> types = rules.readsByTypes() ? types(writing, patches) : Map.of();
        writing.expect(patches.stream().map(Patch::statement).toList());
        Set<Patch> seenBefore = seenByTypes(seen, patches);
        String transaction = null;
        for (Patch patch : patches) {
            Statement statement = patch.statement();
            boolean isSeen = seenBefore.contains(patch) || isSeen(seen, statement);
            List<Fact> same = isSeen ? writing.find(statement) : List.of();
            List<Fact> replaced = switch (patch.op()) {
                case ADD -> List.of();
                case REMOVE -> same;
                case REPLACE -> annotates ? List.of() : others(seen, statement);
            };
            boolean says = patch.op() != Patch.Op.REMOVE;
            boolean changes = says && !isUnchanged(same, statement);
            touched.add(statement.subject().id());
            if (says && statement.object() instanceof Resource object && object.type() != null) {
                touched.add(object.id());
            }
            if (!changes && replaced.isEmpty()) {
                if (isSeen) {
                    refresh(writing, patch.op(), same, statement);
                }
                continue;
            }
            long number = writing.nextChange();
            transaction = transaction == null ? writing.space().changeId(number) : transaction;
            writing.change(number);
            var staying = new ArrayList<Statement>();
            for (Fact old : replaced) {
                takeBack(writing, seen, old.statement()).ifPresent(staying::add);
            }
            if (says) {
                writing.put(statement);
            }
            Map<String, @Nullable Object> more = stamps.in(transaction);
            Set<String> has = types.get(statement.subject().id());
            List<Statement> old = replaced.stream().map(Fact::statement).toList();
            append(writing, number, patch.op(), statement, old, has, more);
            for (Statement hidden : staying) {
                append(writing, writing.nextChange(), Patch.Op.ADD, hidden, List.of(), has, more);
            }
            count += replaced.size() + (changes ? 1 : 0);
            affected.add(statement.subject().id());
        }
    }

    private void append(
            GraphWriting writing,
            long number,
            Patch.Op op,
            Statement statement,
            List<Statement> replaced,
            @Nullable Set<String> types,
            Map<String, @Nullable Object> more)
            throws SQLException {
        changes.add(journal.changes().append(writing, number, op, statement, replaced, types, more));
    }

    /** Removes the visible part of a statement; assertions by others that the caller may not see stay. */
    private static Optional<Statement> takeBack(GraphWriting writing, GraphView seen, Statement old)
            throws SQLException {
        if (seen.readFilter().equals(ReadFilter.NONE)) {
            writing.remove(old);
            return Optional.empty();
        }
        Left left;
        do {
            left = writing.withdraw(old);
        } while (left == Left.OF_OTHERS && isSeen(seen, old));
        return left == Left.OF_OTHERS ? Optional.of(writing.find(old).getFirst().statement()) : Optional.empty();
    }

    /** Returns the removals that a type of their subject permits, even if the same update removes that type before them. */
    private Set<Patch> seenByTypes(GraphView seen, List<Patch> patches) {
        return seen.readFilter().equals(ReadFilter.NONE) || !rules.readsByTypes()
                ? Set.of()
                : patches.stream()
                        .filter(patch -> patch.op() == Patch.Op.REMOVE)
                        .filter(patch -> isSeen(seen, patch.statement()))
                        .collect(Collectors.toSet());
    }

    private static boolean isSeen(GraphView seen, Statement statement) {
        return seen.readFilter().equals(ReadFilter.NONE)
                || !seen.statements(pattern(statement, List.of(statement.object())), null, 1)
                        .items()
                        .isEmpty();
    }

    /**
     * Returns the types of subjects before, during and after the update: a caller that may not read a type must not read it
     * because the same update removes it.
     */
    private static Map<String, Set<String>> types(GraphWriting writing, List<Patch> patches) {
        var types = new HashMap<String, Set<String>>();
        for (Patch patch : patches) {
            types.put(patch.statement().subject().id(), new LinkedHashSet<>());
        }
        writing.types(types.keySet()).forEach((id, has) -> at(types, id).addAll(has));
        for (Patch patch : patches) {
            Statement statement = patch.statement();
            Resource subject = statement.subject();
            if (subject.type() != null) {
                at(types, subject.id()).add(subject.type());
            }
            if (statement.object() instanceof Resource object) {
                if (statement.predicate().equals(Term.TYPE)) {
                    at(types, subject.id()).add(object.id());
                }
                if (object.type() != null && types.containsKey(object.id())) {
                    at(types, object.id()).add(object.type());
                }
            }
        }
        return types;
    }

    private static Set<String> at(Map<String, Set<String>> types, String id) {
        return Objects.requireNonNull(types.get(id));
    }

    /** Renews the time of a statement that is repeated unchanged; watchers receive nothing. */
    private static void refresh(GraphWriting writing, Patch.Op op, List<Fact> same, Statement statement) {
        if (op == Patch.Op.REMOVE) {
            writing.remove(statement); // a type that was only mentioned and is not counted
        } else {
            Fact held = same.getFirst();
            writing.change(writing.space()
                    .changeNumber(String.valueOf(held.statement().provenance().get("changeId"))));
            var provenance = new LinkedHashMap<>(held.statement().provenance());
            provenance.remove("changeId");
            provenance.remove("recordedAt");
            writing.put(statement.withProvenance(provenance));
        }
    }

    private static boolean isUnchanged(List<Fact> same, Statement statement) {
        return !same.isEmpty()
                && Objects.equals(same.getFirst().statement().certainty(), statement.certainty())
                && Stamps.said(same.getFirst().statement()).equals(Stamps.said(statement));
    }

    /** Pattern of statements with the same subject, predicate and graph and one of {@code objects}; any object if empty. */
    private static Pattern pattern(Statement statement, List<Term> objects) {
        return new Pattern(
                List.of(statement.graph() == null ? Pattern.DEFAULT_GRAPH : statement.graph()),
                List.of(statement.subject().id()),
                List.of(),
                List.of(statement.predicate()),
                objects,
                List.of(),
                null);
    }

    private static List<Fact> others(View seen, Statement statement) {
        Pattern pattern = pattern(statement, List.of());
        var others = new ArrayList<Fact>();
        String after = null;
        do {
            StatementPage<Fact> page = seen.statements(pattern, after, PAGE);
            page.items().stream()
                    .filter(fact -> !fact.statement().saysTheSameAs(statement))
                    .forEach(others::add);
            after = page.next();
            if (others.size() > MAX_REPLACED || size(others) > MAX_REPLACED_CHARACTERS) {
                throw A2AException.of(
                        KnowledgeError.KNOWLEDGE_UPDATE,
                        KnowledgeError.KNOWLEDGE_UPDATE.defaultMessage(),
                        Map.of("reason", "too-much", "limit", MAX_REPLACED + " statements to be replaced"));
            }
        } while (after != null);
        return others;
    }

    private static long size(List<Fact> facts) {
        return facts.stream().mapToLong(fact -> Characters.of(fact.statement())).sum();
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }
}
