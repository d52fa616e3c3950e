package dev.parley.mesh.workflow;

import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.dialect.Json;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.Wire;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.Check;
import dev.parley.mesh.workflow.WorkflowOperation.CheckView;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionPage;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionView;
import dev.parley.mesh.workflow.WorkflowOperation.DeleteDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.GetDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.ListDefinitions;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.ListVotes;
import dev.parley.mesh.workflow.WorkflowOperation.Problem;
import dev.parley.mesh.workflow.WorkflowOperation.Repeat;
import dev.parley.mesh.workflow.WorkflowOperation.Resume;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.SaveDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.StartVote;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.VotePage;
import dev.parley.mesh.workflow.WorkflowOperation.VoteView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.WordCodecs;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The operations on runs of workflows on the wire. */
public final class WorkflowProtocol implements ExtensionProtocol.Provider {
    /** Name of the agent that runs workflows. */
    public static final String AGENT = MeshProtocol.VIEWS_AGENT;

    private static final String PATH = "GET /workflows/{workflowId}";

    private static final Codec<StepView> STEP = ObjectCodec.<StepView>of()
            .required("id", TEXT, StepView::id)
            .optional("agent", TEXT, StepView::agent)
            .optional("task", TEXT, StepView::task)
            .optional("depends", TEXTS, List.of(), StepView::depends)
            .required("state", Codecs.words(StepState.class), StepView::state)
            .always("attempts", INT, 0, StepView::attempts)
            .optional("taskId", TEXT, StepView::taskId)
            .optional("problem", TEXT, StepView::problem)
            .optional("choice", STRUCT, Map.of(), StepView::choice)
            .as(v -> new StepView(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<TaskState> STATE = states();

    /** Words for the states of a run, which always has one. */
    private static Codec<TaskState> states() {
        var words = new EnumMap<TaskState, String>(TaskState.class);
        for (TaskState state : EnumSet.complementOf(EnumSet.of(TaskState.UNSPECIFIED))) {
            words.put(state, state.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        }
        return Codecs.words(words, Map.of());
    }

    private static final Codec<TaskState> TYPED_STATE = WordCodecs.reading(STATE, WorkflowProtocol::state);

    private static final Codec<RunView> RUN = ObjectCodec.<RunView>of()
            .optional("sequence", Codecs.POSITION, 0L, RunView::sequence)
            .required("workflowId", TEXT, RunView::workflowId)
            .required("state", STATE, RunView::state)
            .always("progress", INT, 0, RunView::progress)
            .always("steps", Codecs.list(STEP), List.of(), RunView::steps)
            .optional("message", TEXT, RunView::message)
            .optional("result", STRUCT, Map.of(), RunView::result)
            .optional("origin", STRUCT, Map.of(), RunView::origin)
            .as(v -> new RunView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Problem> PROBLEM = ObjectCodec.<Problem>of()
            .always("location", TEXT, "", Problem::location)
            .required("message", TEXT, Problem::message)
            .as(v -> new Problem(v.next(), v.next()));

    private static final Codec<CheckView> CHECK = ObjectCodec.<CheckView>of()
            .required("valid", Codecs.BOOLEAN, CheckView::valid)
            .always("problems", Codecs.list(PROBLEM), List.of(), CheckView::problems)
            .always("steps", Codecs.list(STEP), List.of(), CheckView::steps)
            .as(v -> new CheckView(v.next(), v.next(), v.next()));

    private static final Codec<VoteView> VOTE = ObjectCodec.<VoteView>of()
            .required("voteId", TEXT, VoteView::voteId)
            .required("state", STATE, VoteView::state)
            .required("vote", Vote.CODEC, VoteView::vote)
            .always("voted", TEXTS, List.of(), VoteView::voted)
            .optional("outcome", Vote.Outcome.CODEC, VoteView::outcome)
            .as(v -> new VoteView(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<VotePage> VOTES = ObjectCodec.<VotePage>of()
            .always("votes", Codecs.list(VOTE), List.of(), VotePage::votes)
            .optional("nextPageToken", TEXT, VotePage::nextPageToken)
            .as(v -> new VotePage(v.next(), v.next()));

    private static final Codec<RunPage> PAGE = ObjectCodec.<RunPage>of()
            .always("workflows", Codecs.list(RUN), List.of(), RunPage::workflows)
            .optional("nextPageToken", TEXT, "", RunPage::nextPageToken)
            .as(v -> new RunPage(v.next(), v.next()));

    private static final Codec<DefinitionView> DEFINITION = ObjectCodec.<DefinitionView>of()
            .required("name", TEXT, DefinitionView::name)
            .required("version", INT, DefinitionView::version)
            .optional("description", TEXT, DefinitionView::description)
            .always("versions", Codecs.list(INT), List.of(), DefinitionView::versions)
            .required("savedAt", Wire.MILLIS, DefinitionView::savedAt)
            .optional("savedBy", TEXT, "", DefinitionView::savedBy)
            .always("steps", INT, 0, DefinitionView::steps)
            .optional("document", STRUCT, Map.of(), DefinitionView::document)
            .as(v ->
                    new DefinitionView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<DefinitionPage> DEFINITIONS = ObjectCodec.<DefinitionPage>of()
            .always("definitions", Codecs.list(DEFINITION), List.of(), DefinitionPage::definitions)
            .optional("nextPageToken", TEXT, "", DefinitionPage::nextPageToken)
            .as(v -> new DefinitionPage(v.next(), v.next()));

    private static final String OF_DEFINITION = "/definitions/{definition}";

    private static <T> ObjectCodec.Builder<T> ofRun(Function<T, String> id) {
        return ObjectCodec.<T>of().required("workflowId", TEXT, id);
    }

    /** The operations. */
    public static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
            ExtensionUri.permanent("/extensions/one-workflows/v1"),
            ExtensionMethod.call("one/workflows/run", Run.class, JsonForm.object(Run::new, Run::document), RUN)
                    .rest("POST /workflows")
                    .content(RunView::result),
            ExtensionMethod.call(
                            "one/workflows/check", Check.class, JsonForm.object(Check::new, Check::document), CHECK)
                    .rest("POST /workflows/check"),
            ExtensionMethod.call(
                            "one/workflows/get",
                            Get.class,
                            ofRun(Get::workflowId).as(v -> new Get(v.next())),
                            RUN)
                    .rest(PATH)
                    .content(RunView::result),
            ExtensionMethod.call(
                            "one/workflows/cancel",
                            Cancel.class,
                            ofRun(Cancel::workflowId).as(v -> new Cancel(v.next())),
                            RUN)
                    .rest("DELETE /workflows/{workflowId}"),
            ExtensionMethod.call(
                            "one/workflows/resume",
                            Resume.class,
                            ofRun(Resume::workflowId).as(v -> new Resume(v.next())),
                            RUN)
                    .rest("POST /workflows/{workflowId}/resume")
                    .content(RunView::result),
            ExtensionMethod.call(
                            "one/workflows/repeat",
                            Repeat.class,
                            ofRun(Repeat::workflowId).as(v -> new Repeat(v.next())),
                            RUN)
                    .rest("POST /workflows/{workflowId}/repeat")
                    .content(RunView::result),
            ExtensionMethod.call(
                            "one/definitions/save",
                            SaveDefinition.class,
                            JsonForm.object(SaveDefinition::new, SaveDefinition::document),
                            DEFINITION)
                    .rest("POST /definitions"),
            ExtensionMethod.call(
                            "one/definitions/get",
                            GetDefinition.class,
                            ObjectCodec.<GetDefinition>of()
                                    .required("definition", TEXT, GetDefinition::definition)
                                    .optional("version", INT, GetDefinition::version)
                                    .as(v -> new GetDefinition(v.next(), v.next())),
                            DEFINITION)
                    .rest("GET " + OF_DEFINITION),
            ExtensionMethod.call(
                            "one/definitions/list",
                            ListDefinitions.class,
                            ObjectCodec.<ListDefinitions>of()
                                    .optional("pageSize", INT, ListDefinitions::pageSize)
                                    .optional("pageToken", TEXT, ListDefinitions::pageToken)
                                    .as(v -> new ListDefinitions(v.next(), v.next())),
                            DEFINITIONS)
                    .rest("GET /definitions"),
            ExtensionMethod.call(
                            "one/definitions/delete",
                            DeleteDefinition.class,
                            ObjectCodec.<DeleteDefinition>of()
                                    .required("definition", TEXT, DeleteDefinition::definition)
                                    .optional("version", INT, DeleteDefinition::version)
                                    .as(v -> new DeleteDefinition(v.next(), v.next())),
                            DEFINITION)
                    .rest("DELETE " + OF_DEFINITION),
            ExtensionMethod.call(
                            "one/workflows/list",
                            ListRuns.class,
                            ObjectCodec.<ListRuns>of()
                                    .optional("state", TYPED_STATE, ListRuns::state)
                                    .optional("pageSize", INT, ListRuns::pageSize)
                                    .optional("pageToken", TEXT, ListRuns::pageToken)
                                    .as(v -> new ListRuns(v.next(), v.next(), v.next())),
                            PAGE)
                    .rest("GET /workflows"),
            ExtensionMethod.call(
                            "one/votes/start",
                            StartVote.class,
                            JsonForm.object(StartVote::new, StartVote::document),
                            VOTE)
                    .rest("POST /votes"),
            ExtensionMethod.call(
                            "one/votes/get",
                            GetVote.class,
                            ObjectCodec.<GetVote>of()
                                    .required("voteId", TEXT, GetVote::voteId)
                                    .as(v -> new GetVote(v.next())),
                            VOTE)
                    .rest("GET /votes/{voteId}"),
            ExtensionMethod.call(
                            "one/votes/list",
                            ListVotes.class,
                            ObjectCodec.<ListVotes>of()
                                    .optional("waiting", Codecs.BOOLEAN, ListVotes::waiting)
                                    .optional("pageSize", INT, ListVotes::pageSize)
                                    .optional("pageToken", TEXT, ListVotes::pageToken)
                                    .as(v -> new ListVotes(v.next(), v.next(), v.next())),
                            VOTES)
                    .rest("GET /votes"),
            ExtensionMethod.call(
                            "one/votes/cast",
                            Cast.class,
                            ObjectCodec.<Cast>of()
                                    .required("voteId", TEXT, Cast::voteId)
                                    .required("option", TEXT, Cast::option)
                                    .optional("voter", TEXT, Cast::voter)
                                    .as(v -> new Cast(v.next(), v.next(), v.next())),
                            VOTE)
                    .rest("POST /votes/{voteId}/ballots"),
            ExtensionMethod.stream(
                            "one/workflows/watch",
                            Watch.class,
                            ofRun(Watch::workflowId)
                                    .optional("after", Codecs.POSITION, Watch::after)
                                    .as(v -> new Watch(v.next(), v.next())),
                            RUN)
                    .rest(PATH)
                    .resumable(
                            run -> run.sequence() == 0 ? null : Long.toString(run.sequence()),
                            (watch, id) -> new Watch(watch.workflowId(), number(id)))
                    .endingWith(run -> run.state().isTerminal()));

    /**
     * State of a run as it is typed.
     *
     * @throws A2AException INVALID_PARAMS for another word
     */
    public static @Nullable TaskState typedState(String word) {
        return TYPED_STATE.parse(word, "state");
    }

    private static TaskState state(String word) {
        return TaskState.named(word)
                .orElseThrow(() -> InvalidField.of(
                        "",
                        '"' + word
                                + "\" (expected: submitted, working, input-required, completed, failed, canceled or"
                                + " rejected)"));
    }

    /** JSON of a run. */
    public static byte[] json(RunView run) {
        return Json.write(RUN.toJson(run));
    }

    /** JSON of a vote. */
    public static byte[] json(VoteView vote) {
        return Json.write(VOTE.toJson(vote));
    }

    /** JSON of a definition. */
    public static byte[] json(DefinitionView definition) {
        return Json.write(DEFINITION.toJson(definition));
    }

    private static Long number(String id) {
        try {
            return Long.valueOf(id);
        } catch (NumberFormatException foreign) {
            return 0L; // no id of this server: all events
        }
    }

    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of(PROTOCOL);
    }
}
