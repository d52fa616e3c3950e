package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.extension.HubParts;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.ListVotes;
import dev.parley.mesh.workflow.WorkflowOperation.StartVote;
import dev.parley.mesh.workflow.WorkflowOperation.VotePage;
import dev.parley.mesh.workflow.WorkflowOperation.VoteView;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.PageToken;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Votes of principals: tasks of the agent {@code one} whose ballots are messages of the voters, one turn each. The engine runs the turns
 * of a task one after another, and keeps the ballots as metadata of the task. Safe for any thread.
 */
final class Votes {
    private static final String MEMBER = "vote";
    private static final Codec<Vote> DOCUMENT =
            ObjectCodec.<Vote>of().required(MEMBER, Vote.CODEC, vote -> vote).as(v -> v.next());
    /** Codec of new votes, which are not part of a workflow. */
    private static final Codec<Vote> CLOSED = ObjectCodec.<Vote>of()
            .required(MEMBER, Vote.CODEC.closed(), vote -> vote)
            .readOnly("workflow", Codecs.FREE)
            .as(v -> v.<Vote>next())
            .closed();

    /** Members of the metadata of a vote's task: the principal that began it, ballots after the names of voters. */
    private static final String STARTER = "one/vote";

    private static final String BALLOT = "one/ballot/";

    private static final int DEFAULT_PAGE = 50;
    private static final int MAX_PAGE = 100;
    private static final int PAGE_OF_TASKS = 50;
    /** Time after which a page ends, also with fewer votes. */
    private static final Duration LONGEST_PAGE = Duration.ofMillis(250);

    /** Member of the metadata of a ballot: the voter, of callers without authentication. */
    private static final String VOTER = "one/voter";

    private final HubParts hub;
    private final RunTimers timers;
    private final InstantSource clock;

    Votes(HubParts hub, RunTimers timers, InstantSource clock) {
        this.hub = hub;
        this.timers = timers;
        this.clock = clock;
    }

    /** Whether the document of a task is a vote. */
    static boolean isVote(Map<String, @Nullable Object> document) {
        return document.containsKey(MEMBER) && !document.containsKey("workflow");
    }

    private static Vote vote(Map<String, @Nullable Object> document) {
        return DOCUMENT.fromJson(document).checked(MEMBER);
    }

    private Vote opened(Map<String, @Nullable Object> document) {
        Vote vote = CLOSED.fromJson(document).checked(MEMBER);
        if (vote.deadline() != null && isOver(vote)) {
            throw InvalidField.of("vote.deadline", vote.deadline() + " (expected: a time in the future)");
        }
        return vote;
    }

    private boolean isOver(Vote vote) {
        Instant deadline = vote.deadline();
        return deadline != null && !clock.instant().isBefore(deadline);
    }

    /** One turn: begins a vote, takes a ballot, or ends a vote whose time is over. */
    void turn(Request request, Reply reply, Map<String, @Nullable Object> document) {
        boolean begins = request.task().isEmpty();
        Vote vote;
        try {
            vote = begins ? opened(document) : vote(document);
        } catch (InvalidField | A2AException invalid) {
            reply.reject("Invalid vote: " + invalid.getMessage());
            return;
        }
        CallContext caller = request.context();
        Map<String, @Nullable Object> kept = request.task().map(Task::metadata).orElse(Map.of());
        Map<String, String> ballots = ballots(vote, kept);
        var news = new LinkedHashMap<String, @Nullable Object>();
        if (!kept.containsKey(STARTER)) {
            news.put(STARTER, caller.caller());
        }
        if (vote.deadline() != null && !request.isFollowUp()) {
            timers.end(request.taskId(), vote.deadline(), caller);
        }
        if (request.isFollowUp() && !isOver(vote)) {
            String voter = isAnonymous(caller) && request.message().metadata().get(VOTER) instanceof String named
                    ? named
                    : caller.caller();
            if (vote.voters().contains(voter) && !ballots.containsKey(voter)) {
                vote.option(StepMessage.value(request.parts())).ifPresent(option -> {
                    ballots.put(voter, option);
                    news.put(BALLOT + voter, option);
                });
            }
        }
        news.put("progress", 100 * ballots.size() / vote.voters().size());
        if (ballots.size() < vote.voters().size() && !isOver(vote)) {
            reply.move(TaskState.INPUT_REQUIRED, Message.agent(Part.text(vote.text())), news);
            return;
        }
        Object outcome = Vote.Outcome.CODEC.toJson(vote.outcome(ballots));
        reply.artifact(Artifact.named("outcome", "outcome", Part.data(outcome)));
        reply.move(TaskState.COMPLETED, null, news);
    }

    private static Map<String, String> ballots(Vote vote, Map<String, @Nullable Object> metadata) {
        var ballots = new LinkedHashMap<String, String>();
        for (String voter : vote.voters()) {
            if (metadata.get(BALLOT + voter) instanceof String option) {
                ballots.put(voter, option);
            }
        }
        return ballots;
    }

    private static boolean isAnonymous(CallContext caller) {
        return caller.caller().equals(CallContext.anonymous().caller());
    }

    VoteView start(StartVote start, CallContext caller) {
        Vote vote = WorkflowDocument.valid(() -> opened(start.document()));
        Message document = Message.user(Part.data(DOCUMENT.toJson(vote)));
        return view((Task) send(document, within(caller.scope(), caller)));
    }

    VoteView get(GetVote get, CallContext caller) {
        return view(find(get.voteId(), caller));
    }

    VotePage list(ListVotes list, CallContext caller) {
        int size = list.pageSize() == null ? DEFAULT_PAGE : list.pageSize();
        if (size < 1 || size > MAX_PAGE) {
            throw A2AException.invalidParams("pageSize", size + " (expected: 1 to " + MAX_PAGE + ')');
        }
        boolean isWaiting = Boolean.TRUE.equals(list.waiting());
        List<?> question = List.of("votes", caller.scope().group(), caller.caller(), isWaiting);
        var query = new Query(
                caller.scope().group(),
                null,
                WorkflowProtocol.AGENT,
                null,
                isWaiting ? TaskState.INPUT_REQUIRED : null,
                null,
                list.pageToken() == null ? null : position(question, list.pageToken()),
                PAGE_OF_TASKS);
        var votes = new ArrayList<VoteView>();
        long end = System.nanoTime() + LONGEST_PAGE.toNanos();
        while (true) {
            List<Head> heads = hub.tasks().list(query).heads();
            for (Head head : heads) {
                VoteView vote = shown(head, caller);
                if (vote != null && (!isWaiting || misses(vote, caller))) {
                    votes.add(vote);
                }
                query = query.after(new Position(head.statusTime(), head.key().taskId()));
                if (votes.size() == size || System.nanoTime() > end) {
                    return new VotePage(votes, token(question, query));
                }
            }
            if (heads.size() < PAGE_OF_TASKS) {
                return new VotePage(votes, null);
            }
        }
    }

    /** Returns the vote of a task; null for other tasks, and for votes that the caller may not see or that cannot be read. */
    private @Nullable VoteView shown(Head head, CallContext caller) {
        try {
            Task task = timers.one()
                    .call(GetTask.of(head.key().taskId()), within(head.key().scope(), caller));
            return isShown(task, caller) && task.state() != TaskState.REJECTED ? view(task) : null;
        } catch (A2AException | InvalidField unreadable) {
            return null;
        }
    }

    private static boolean misses(VoteView vote, CallContext caller) {
        return isAnonymous(caller)
                || vote.vote().voters().contains(caller.caller())
                        && !vote.voted().contains(caller.caller());
    }

    private static String token(List<?> question, Query query) {
        Position position = requireNonNull(query.before());
        return PageToken.of(question, List.of(position.statusTime().toEpochMilli(), position.taskId()));
    }

    private static Position position(List<?> question, String token) {
        return PageToken.read(
                question,
                token,
                2,
                at -> new Position(Instant.ofEpochMilli(Long.parseLong(at.get(0))), at.get(1)),
                () -> A2AException.invalidParams(
                        "pageToken", '"' + token + "\": unknown (expected: nextPageToken of a page before)"));
    }

    VoteView cast(Cast cast, CallContext caller) {
        Task before = find(cast.voteId(), caller);
        Vote vote = vote(document(before));
        String voter = cast.voter() != null && isAnonymous(caller) ? cast.voter() : caller.caller();
        if (!vote.voters().contains(voter)
                || cast.voter() != null && !cast.voter().equals(voter)) {
            throw A2AException.of(A2AError.PERMISSION_DENIED, '"' + voter + "\" may not cast this ballot");
        }
        String option = vote.option(cast.option())
                .orElseThrow(() -> A2AException.invalidParams(
                        "option",
                        '"' + cast.option() + "\" (expected: one of " + String.join(", ", vote.options()) + ")"));
        Task after = before;
        if (!before.state().isTerminal() && !ballots(vote, before.metadata()).containsKey(voter)) {
            Message ballot = Message.user(Part.text(option));
            after = (Task) send(
                    new Message(
                            ballot.messageId(),
                            ballot.role(),
                            ballot.parts(),
                            null,
                            before.id(),
                            Map.of(VOTER, voter),
                            List.of(),
                            List.of()),
                    within(owner(cast.voteId(), caller), caller));
        }
        String counted = ballots(vote, after.metadata()).get(voter);
        if (counted == null) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "The vote has ended");
        }
        if (!counted.equals(option)) {
            throw A2AException.invalidParams(
                    "option",
                    '"' + option + "\" (expected: \"" + counted + "\", the ballot that \"" + voter + "\" has cast)");
        }
        return view(after);
    }

    private Object send(Message message, CallContext context) {
        return timers.one().call(new SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()), context);
    }

    /** The task of a vote, for the principal that began it and its voters. */
    private Task find(String id, CallContext caller) {
        Task task = timers.one().call(GetTask.of(id), within(owner(id, caller), caller));
        if (!isShown(task, caller)) {
            throw A2AException.taskNotFound(id);
        }
        return task;
    }

    private static boolean isShown(Task task, CallContext caller) {
        return task.metadata().get(STARTER) instanceof String starter
                && (isAnonymous(caller)
                        || starter.equals(caller.caller())
                        || vote(document(task)).voters().contains(caller.caller()));
    }

    private Scope owner(String id, CallContext caller) {
        return hub.tasks()
                .find(caller.scope().group(), id)
                .map(Head::key)
                .filter(key -> key.agent().equals(WorkflowProtocol.AGENT))
                .orElseThrow(() -> A2AException.taskNotFound(id))
                .scope();
    }

    private static CallContext within(Scope scope, CallContext caller) {
        return new CallContext(caller.principal(), scope, caller.wire(), caller.trace(), caller.deadline())
                .withDialect(CallContext.V1, false)
                .withTasksOnly();
    }

    private static Map<String, @Nullable Object> document(Task task) {
        return WorkflowDocument.members(task.history().getFirst());
    }

    private static VoteView view(Task task) {
        if (task.state() == TaskState.REJECTED && task.status().message() != null) {
            throw A2AException.invalidParams("vote", task.status().message().text());
        }
        Vote vote = vote(document(task));
        Map<String, String> ballots = ballots(vote, task.metadata());
        return new VoteView(
                task.id(),
                task.state(),
                vote,
                vote.voters().stream().filter(ballots::containsKey).toList(),
                task.state() == TaskState.COMPLETED ? vote.outcome(ballots) : null);
    }
}
