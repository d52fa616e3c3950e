package dev.parley.mcp.agent;

import static java.util.Objects.requireNonNullElse;
import static java.util.Objects.requireNonNullElseGet;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.Elicitation;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.Pauses;
import dev.parley.mcp.client.Progress;
import dev.parley.mcp.client.ServerFailure;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Excerpt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An MCP server as an agent: each message calls a tool. */
final class ToolAgent implements AgentHandler {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");
    private static final int CONCURRENCY = 64;
    private static final int MAX_TEXT = 1_000;
    private static final Duration PROGRESS_PAUSE = Duration.ofSeconds(1);
    /** Pauses before a task of the server is read again, unless the server wants longer ones. */
    private static final Backoff POLLS = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1));

    private static final Duration LONGEST_POLL = Duration.ofMinutes(1);
    private static final Duration LONGEST_TASK = Duration.ofHours(24);

    private final HostedServer server;
    private final ToolTable table;
    private final OpenCalls calls;

    /** @param calls those that hubs which share the database have open */
    ToolAgent(HostedServer server, ToolTable table, OpenCalls calls) {
        this.server = server;
        this.table = table;
        this.calls = calls;
    }

    /** The agent, with a skill for each approved tool. Texts of the server are cut. */
    Agent agent() {
        Agent.Builder agent = Agent.named(
                        server.entry().name(), "MCP server " + server.entry().name())
                .inputModes("application/json", "text/plain")
                .resumable(true)
                .concurrency(CONCURRENCY)
                .timeLimit(LONGEST_TASK)
                .refusing(server::refusal);
        List<Tool> tools = server.tools();
        List<Skill> skills = ToolSkills.of(tools);
        skills.forEach(agent::skill);
        if (skills.size() < tools.size() || tools.isEmpty()) {
            agent.skill(ToolSkills.rest(tools.size() - skills.size()));
        }
        return agent.handle(this);
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        Optional<KeptCall> kept =
                request.isFollowUp() || request.attempt() > 1 ? table.call(request.taskId()) : Optional.empty();
        boolean isProxied = kept.filter(each -> each.call().isProxied()).isPresent();
        try {
            if (kept.isPresent()) {
                goOn(kept.get(), request, reply);
            } else if (request.attempt() > 1) {
                reply.fail("the hub has stopped during the call of the tool, which may have run");
            } else {
                McpClient unused = server.client(); // whose tools are known then
                Optional<Part> page = ToolSkills.page(request, server.tools());
                if (page.isPresent()) {
                    reply.complete(page.get());
                    return;
                }
                ToolCall call = ToolCall.of(request, server.entry().name(), server.tools());
                isProxied = call.isProxied();
                server.tool(call.tool());
                call(call, Map.of(), null, request, reply);
            }
        } catch (ToolCall.Unclear unclear) {
            reply.reject(String.valueOf(unclear.getMessage()));
        } catch (McpException error) {
            table.forget(request.taskId());
            String text = Excerpt.of(String.valueOf(error.getMessage()), MAX_TEXT);
            Object details = error.data().isEmpty() ? null : error.data();
            reply.move(
                    error.code() == McpException.INVALID_PARAMS ? TaskState.REJECTED : TaskState.FAILED,
                    ToolAnswer.failed(isProxied, "MCP_PROTOCOL", error.code(), text, details),
                    Map.of());
        } catch (ServerFailure failure) {
            table.forget(request.taskId());
            LOG.log(System.Logger.Level.WARNING, "MCP server " + server.entry().name(), failure);
            String text = Excerpt.of(String.valueOf(failure.getMessage()), MAX_TEXT);
            Message failed = ToolAnswer.failed(isProxied, "A2A_PROXY", ToolAnswer.code(failure), text, null);
            reply.move(TaskState.FAILED, failed, Map.of());
        }
    }

    private void call(
            ToolCall call, Map<String, InputResponse> answers, @Nullable String state, Request request, Reply reply)
            throws InterruptedException {
        McpClient client = server.client();
        Outcome<CallResult> outcome = client.call(
                new Invocation(call.tool(), call.arguments(), answers, state, call.meta()),
                server.entry().timeout(),
                new Reports(reply));
        switch (outcome) {
            case Outcome.Complete<CallResult>(var result) -> finish(client, call, result, request, reply);
            case Outcome.Questions<CallResult>(var questions, var next) ->
                ask(new KeptCall(call, questions, next, null, Map.of(), calls.hub()), request, reply);
            case Outcome.Begun<CallResult>(var task) -> follow(client, call, task, request, reply);
        }
    }

    private void finish(McpClient client, ToolCall call, CallResult result, Request request, Reply reply)
            throws InterruptedException {
        Part[] parts = new ToolAnswer(client, server.entry().links()).parts(result);
        table.forget(request.taskId());
        if (result.isFailure()) {
            Object details = Trees.of(ResultModel.CALL, result).get("content");
            Message failed =
                    ToolAnswer.failed(call.isProxied(), "MCP_TOOL", "MCP_TOOL_ERROR", ToolAnswer.text(result), details);
            reply.move(TaskState.FAILED, failed, Map.of());
        } else if (call.isProxied()) {
            reply.complete(ToolAnswer.proxied(result));
        } else {
            reply.complete(parts);
        }
    }

    /** Passes questions of the server to the caller. */
    private void ask(KeptCall call, Request request, Reply reply) {
        for (var each : call.questions().entrySet()) {
            Optional<Elicitation> question = Elicitation.of(each.getValue());
            if (question.isPresent() && !question.get().isSafe()) {
                giveUp(request.taskId(), call);
                throw new ServerFailure(
                        ServerFailure.Kind.INVALID_RESPONSE,
                        "the server asks to open an address that is not safe (expected: https)");
            }
            if (question.isEmpty()) {
                throw new McpException(
                        McpException.METHOD_NOT_FOUND,
                        "the server asks by " + each.getValue().method() + ", which is not offered to it");
            }
        }
        table.keep(request.taskId(), call);
        show(call.questions(), null, reply);
    }

    /** Shows questions: texts, their form, and in the metadata the elicitations themselves. */
    private static void show(Map<String, InputRequest> questions, @Nullable String problem, Reply reply) {
        var parts = new ArrayList<Part>();
        var elicitations = new LinkedHashMap<String, @Nullable Object>();
        boolean isUrl = false;
        if (problem != null) {
            parts.add(Part.text(problem));
        }
        for (var each : questions.entrySet()) {
            Map<String, @Nullable Object> params = each.getValue().params();
            Elicitation question = Elicitation.asked(params);
            isUrl |= question.isUrl();
            String url = question.url() == null ? "" : " " + question.url();
            parts.add(Part.text(question.message() + url));
            elicitations.put(
                    each.getKey(),
                    problem == null ? params : Trees.with(params, "message", problem + "\n" + question.message()));
        }
        boolean isForm = questions.size() == 1 && !isUrl;
        parts.add(Part.data(
                isForm
                        ? Trees.map(Trees.map(elicitations.values().iterator().next()), "requestedSchema")
                        : Map.of(Elicitation.DATA, elicitations)));
        Message question = Message.agent(parts.toArray(Part[]::new));
        reply.move(
                isUrl ? TaskState.AUTH_REQUIRED : TaskState.INPUT_REQUIRED,
                new Message(
                        question.messageId(),
                        question.role(),
                        question.parts(),
                        null,
                        null,
                        Map.of(Elicitation.METADATA, elicitations),
                        List.of(),
                        List.of()),
                Map.of());
    }

    /** Tells the server that a call which waits for an answer is given up, as its task is canceled. */
    void abandon(String taskId) {
        Optional<KeptCall> kept = table.call(taskId);
        table.forget(taskId);
        kept.ifPresent(call -> giveUp(taskId, call));
    }

    private void giveUp(String taskId, KeptCall call) {
        if (calls.isElsewhere(server.entry(), call)) {
            calls.abandon(taskId, server.entry().name(), call);
        } else {
            abandon(server, call);
        }
    }

    /** Tells a server that a call is given up. */
    static void abandon(HostedServer server, KeptCall call) {
        server.connection().ifPresent(client -> {
            if (call.state() != null) {
                client.abandon(call.state());
            }
            if (call.task() != null) {
                cancel(server, client, call.task());
            }
        });
    }

    /** Continues a call with the answer of its caller, or after a restart of the hub. */
    private void goOn(KeptCall kept, Request request, Reply reply) throws InterruptedException {
        ToolCall call = kept.call();
        String task = kept.task();
        Map<String, InputRequest> questions = kept.questions();
        if (questions.isEmpty() && task != null) {
            McpClient client = server.client(request.attempt() > 1);
            follow(client, call, client.task(task), request, reply);
            return;
        }
        var answers = new LinkedHashMap<>(kept.answers());
        var open = new LinkedHashMap<String, Elicitation>();
        questions.forEach((key, question) -> {
            if (!answers.containsKey(key)) {
                open.put(key, Elicitation.of(question).orElseThrow());
            }
        });
        CallerAnswers given = CallerAnswers.of(open, request.text(), request.parts());
        answers.putAll(given.given());
        if (given.problem() != null || answers.size() < questions.size()) {
            table.keep(request.taskId(), kept.answered(answers));
            var left = new LinkedHashMap<>(questions);
            left.keySet().removeAll(answers.keySet());
            show(left, given.problem(), reply);
            return;
        }
        if (calls.isElsewhere(server.entry(), kept)) {
            goOnElsewhere(kept.answered(answers), request, reply);
            return;
        }
        if (task == null) {
            call(call, answers, kept.state(), request, reply);
            return;
        }
        McpClient client = server.client();
        client.update(task, answers);
        follow(client, call, client.task(task), request, reply);
    }

    /** Has the hub that has the call open continue it. */
    private void goOnElsewhere(KeptCall kept, Request request, Reply reply) throws InterruptedException {
        String id = request.taskId() + " " + request.message().messageId();
        Continuation outcome;
        Optional<CallResult> result;
        try {
            outcome = calls.goOn(id, server.entry().name(), kept);
            result = outcome.complete();
        } catch (McpException | ServerFailure failed) {
            calls.forget(id);
            throw failed;
        } catch (InterruptedException stop) {
            if (request.isCanceled()) {
                calls.stop(id);
            }
            throw stop; // a hub that stops leaves the outcome to the one that goes on with the task
        }
        if (result.isPresent()) {
            finish(server.client(), kept.call(), result.get(), request, reply);
        } else {
            ask(
                    new KeptCall(
                            kept.call(), outcome.questions(), outcome.state(), outcome.task(), Map.of(), kept.hub()),
                    request,
                    reply);
        }
        calls.forget(id);
    }

    /** Waits until a task of a server has ended, or asks. */
    static McpTask settled(McpClient client, McpTask begun) throws InterruptedException {
        McpTask task = begun;
        for (int idle = 1;
                task.status() == McpTask.Status.WORKING
                        || task.status() == McpTask.Status.INPUT_REQUIRED
                                && task.inputRequests().isEmpty(); ) {
            pause(task, idle);
            McpTask now = client.task(task.taskId());
            idle = now.equals(task) ? idle + 1 : 1;
            task = now;
        }
        return task;
    }

    private static void pause(McpTask task, int idle) throws InterruptedException {
        Duration wanted = Duration.ofMillis(requireNonNullElse(task.pollIntervalMs(), 1_000L));
        Pauses.pause(POLLS.after(idle, wanted.compareTo(LONGEST_POLL) < 0 ? wanted : LONGEST_POLL));
    }

    /**
     * The result of a task that has ended.
     *
     * @throws McpException its error, if it has failed
     */
    static CallResult result(McpTask task) {
        return switch (task.status()) {
            case COMPLETED -> requireNonNullElse(task.result(), CallResult.of(List.of(), null));
            case CANCELLED -> throw new McpException(McpException.INTERNAL_ERROR, "the server has canceled the task");
            default ->
                throw requireNonNullElseGet(
                        task.error(),
                        () -> new McpException(McpException.INTERNAL_ERROR, "the task of the server has failed"));
        };
    }

    /** Follows a task of the server to its end, or to its questions. */
    private void follow(McpClient client, ToolCall call, McpTask begun, Request request, Reply reply)
            throws InterruptedException {
        String id = begun.taskId();
        table.keep(request.taskId(), new KeptCall(call, Map.of(), null, id, Map.of(), calls.hub()));
        McpTask task = begun;
        String said = "";
        int idle = 1;
        try {
            while (true) {
                switch (task.status()) {
                    case WORKING -> {
                        String status = task.statusMessage();
                        if (status != null && !status.equals(said)) {
                            said = status;
                            reply.working(Excerpt.of(status, MAX_TEXT));
                        }
                    }
                    case INPUT_REQUIRED -> {
                        Map<String, InputRequest> questions = task.inputRequests();
                        if (!questions.isEmpty()) {
                            ask(new KeptCall(call, questions, null, id, Map.of(), calls.hub()), request, reply);
                            return;
                        }
                    }
                    case CANCELLED -> {
                        table.forget(request.taskId());
                        reply.fail("the server has canceled the task");
                        return;
                    }
                    case COMPLETED, FAILED, UNKNOWN -> {
                        finish(client, call, result(task), request, reply);
                        return;
                    }
                }
                pause(task, idle);
                McpTask now = client.task(id);
                idle = now.equals(task) ? idle + 1 : 1;
                task = now;
            }
        } catch (InterruptedException stop) {
            if (request.isCanceled()) {
                cancel(server, client, id);
                table.forget(request.taskId());
            }
            throw stop; // a hub that stops goes on with the task after its next start
        }
    }

    private static void cancel(HostedServer server, McpClient client, String task) {
        Thread.ofVirtual().name("mcp-cancel").start(() -> {
            try {
                client.cancel(task);
            } catch (McpException | ServerFailure unknown) {
                LOG.log(
                        System.Logger.Level.DEBUG,
                        "a task of " + server.entry().name() + " cannot be canceled",
                        unknown);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Progress of a call as that of its task, at most once a second. */
    private static final class Reports implements Progress {
        private final Reply reply;
        private long last = System.nanoTime() - PROGRESS_PAUSE.toNanos();

        Reports(Reply reply) {
            this.reply = reply;
        }

        @Override
        public void report(double progress, @Nullable Double total, @Nullable String message) {
            long now = System.nanoTime();
            if (now - last < PROGRESS_PAUSE.toNanos()) {
                return;
            }
            last = now;
            String note = message == null ? null : Excerpt.of(message, MAX_TEXT);
            if (total != null && total > 0) {
                reply.progress((int) Math.clamp(progress * 100 / total, 0, 100), note);
            } else {
                reply.working(note == null ? String.valueOf(progress) : note);
            }
        }
    }
}
