package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.Prompt;
import dev.parley.mcp.PromptResult;
import dev.parley.mcp.Resource;
import dev.parley.mcp.ResourceContent;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The tools, prompts and resources that the conformance suite of MCP expects of a server, by the names and texts that it looks for. JSON
 * is written with apostrophes.
 */
public final class ConformanceProvider implements McpProvider, AutoCloseable {
    private static final String IMAGE =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    private static final String SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

    @FunctionalInterface
    private interface Handler {
        Outcome<CallResult> call(Invocation call, Exchange exchange) throws InterruptedException;
    }

    private record Fixture(Tool tool, Handler handler) {}

    private final Map<String, Fixture> fixtures = new LinkedHashMap<>();
    private final FixtureTasks tasks = new FixtureTasks();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

    /** Makes the fixtures. */
    public ConformanceProvider() {
        contents();
        legacyQuestions();
        questions();
        diagnostics();
        taskTools();
    }

    static Map<String, @Nullable Object> json(String text) {
        return JsonText.read(text.replace('\'', '"').getBytes(UTF_8), Codecs.STRUCT);
    }

    /** The result of a task. */
    static Object text(String text) {
        return Objects.requireNonNull(ResultModel.CALL.toJson(CallResult.text(text)));
    }

    private static Outcome<CallResult> done(String text) {
        return new Outcome.Complete<>(CallResult.text(text));
    }

    private static Outcome<CallResult> result(String json) {
        return new Outcome.Complete<>(ResultModel.call(json(json)));
    }

    private void tool(String name, String schema, Handler handler) {
        fixtures.put(name, new Fixture(new Tool(name, null, "Fixture " + name, json(schema), null, Map.of()), handler));
    }

    private void tool(String name, Handler handler) {
        tool(name, "{'type':'object','properties':{}}", handler);
    }

    private void contents() {
        tool("test_simple_text", (call, exchange) -> done("This is a simple text response for testing."));
        tool(
                "test_image_content",
                (call, exchange) ->
                        result("{'content':[{'type':'image','data':'" + IMAGE + "','mimeType':'image/png'}]}"));
        tool(
                "test_audio_content",
                (call, exchange) ->
                        result("{'content':[{'type':'audio','data':'" + SOUND + "','mimeType':'audio/wav'}]}"));
        tool(
                "test_embedded_resource",
                (call, exchange) -> result(
                        "{'content':[{'type':'resource','resource':{'uri':'test://embedded-resource','mimeType':'text/plain',"
                                + "'text':'This is an embedded resource content.'}}]}"));
        tool(
                "test_multiple_content_types",
                (call, exchange) -> result(
                        "{'content':[{'type':'text','text':'Multiple content types test:'},{'type':'image','data':'"
                                + IMAGE
                                + "','mimeType':'image/png'},{'type':'resource','resource':{'uri':'test://mixed-content-resource',"
                                + "'mimeType':'application/json','text':'{}'}}]}"));
        tool(
                "test_error_handling",
                (call, exchange) -> new Outcome.Complete<>(
                        CallResult.error("This tool intentionally returns an error for testing")));
        tool("test_tool_with_logging", (call, exchange) -> {
            exchange.log("info", "Tool execution started");
            exchange.log("info", "Tool processing data");
            exchange.log("info", "Tool execution completed");
            return done("Tool with logging executed successfully");
        });
        tool("test_tool_with_progress", (call, exchange) -> {
            for (double step : new double[] {0, 50, 100}) {
                exchange.progress(step, 100.0, "Completed step " + step);
            }
            return done(String.valueOf(call.meta().get("progressToken")));
        });
        tool("json_schema_2020_12_tool", """
                {'$schema':'https://json-schema.org/draft/2020-12/schema','type':'object',
                 '$defs':{'address':{'$anchor':'addressDef','type':'object',
                   'properties':{'street':{'type':'string'},'city':{'type':'string'}}}},
                 'properties':{'name':{'type':'string'},'address':{'$ref':'#/$defs/address'},
                   'contactMethod':{'type':'string','enum':['phone','email']},'phone':{'type':'string'},'email':{'type':'string'}},
                 'allOf':[{'anyOf':[{'required':['phone']},{'required':['email']}]}],
                 'if':{'properties':{'contactMethod':{'const':'phone'}},'required':['contactMethod']},
                 'then':{'required':['phone']},'else':{'required':['email']},'additionalProperties':false}""", (call, exchange) -> done("called with " + call.arguments()));
        tool(
                "test_x_mcp_header",
                "{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'},"
                        + "'count':{'type':'integer','x-mcp-header':'Count'},"
                        + "'dry':{'type':'boolean','x-mcp-header':'Dry'},'query':{'type':'string'}}}",
                (call, exchange) -> done("called with " + call.arguments()));
    }

    /** A tool that asks one question, and shows the answer. */
    private void ask(String name, String schema, String form) {
        tool(name, schema, (call, exchange) -> {
            InputResponse answer = call.answers().get("input");
            if (answer == null) {
                return ask("input", elicitation(String.valueOf(call.arguments().getOrDefault("message", "?")), form));
            }
            return done("Elicitation completed: User response: action=" + answer.action() + ", content="
                    + new String(JsonText.write(Codecs.STRUCT, answer.form()), UTF_8));
        });
    }

    private static <R> Outcome<R> ask(String key, InputRequest question) {
        return new Outcome.Questions<>(Map.of(key, question), null);
    }

    private static InputRequest elicitation(String message, String form) {
        return new InputRequest(
                "elicitation/create", new RawJson().with("message", message).with("requestedSchema", json(form)));
    }

    private static InputRequest sampling(String prompt) {
        return new InputRequest(
                "sampling/createMessage",
                new RawJson()
                        .with(
                                "messages",
                                List.of(new RawJson()
                                        .with("role", "user")
                                        .with(
                                                "content",
                                                new RawJson()
                                                        .with("type", "text")
                                                        .with("text", prompt))))
                        .with("maxTokens", 100));
    }

    private static InputRequest roots() {
        return new InputRequest("roots/list", Map.of());
    }

    private void legacyQuestions() {
        tool(
                "test_sampling",
                "{'type':'object','properties':{'prompt':{'type':'string'}},'required':['prompt']}",
                (call, exchange) -> {
                    InputResponse answer = call.answers().get("sample");
                    return answer == null
                            ? ask(
                                    "sample",
                                    sampling(String.valueOf(call.arguments().get("prompt"))))
                            : done("LLM response: " + answer.form().get("text"));
                });
        ask(
                "test_elicitation",
                "{'type':'object','properties':{'message':{'type':'string'}},'required':['message']}",
                "{'type':'object','properties':{'response':{'type':'string'}},'required':['response']}");
        ask("test_elicitation_sep1034_defaults", "{'type':'object','properties':{}}", """
                {'type':'object','properties':{'name':{'type':'string','default':'John Doe'},
                'age':{'type':'integer','default':30},'score':{'type':'number','default':95.5},
                'status':{'type':'string','enum':['active','inactive','pending'],'default':'active'},
                'verified':{'type':'boolean','default':true}},'required':[]}""");
        ask("test_elicitation_sep1330_enums", "{'type':'object','properties':{}}", """
                {'type':'object','properties':{
                'untitledSingle':{'type':'string','enum':['option1','option2','option3']},
                'titledSingle':{'type':'string','oneOf':[{'const':'value1','title':'First Option'},
                  {'const':'value2','title':'Second Option'},{'const':'value3','title':'Third Option'}]},
                'legacyEnum':{'type':'string','enum':['opt1','opt2','opt3'],
                  'enumNames':['Option One','Option Two','Option Three']},
                'untitledMulti':{'type':'array','minItems':1,'maxItems':3,
                  'items':{'type':'string','enum':['option1','option2','option3']}},
                'titledMulti':{'type':'array','minItems':1,'maxItems':3,'items':{'anyOf':[
                  {'const':'value1','title':'First Choice'},{'const':'value2','title':'Second Choice'},
                  {'const':'value3','title':'Third Choice'}]}}},'required':[]}""");
    }

    private static final String NAME = "{'type':'object','properties':{'name':{'type':'string'}},'required':['name']}";
    private static final String OK = "{'type':'object','properties':{'ok':{'type':'boolean'}},'required':['ok']}";

    private static @Nullable String field(@Nullable InputResponse answer, String field) {
        return answer == null ? null : Trees.text(answer.form().get(field));
    }

    private void questions() {
        tool("test_input_required_result_elicitation", (call, exchange) -> {
            String name = field(call.answers().get("user_name"), "name");
            return name == null
                    ? ask("user_name", elicitation("What is your name?", NAME))
                    : done("Hello, " + name + "!");
        });
        tool("test_input_required_result_sampling", (call, exchange) -> {
            InputResponse sample = call.answers().get("sample_request");
            return sample == null
                    ? ask("sample_request", sampling("What is the capital of France?"))
                    : done("Sampling result: " + sample.form().get("text"));
        });
        tool("test_input_required_result_list_roots", (call, exchange) -> {
            InputResponse roots = call.answers().get("roots_request");
            return roots == null
                    ? ask("roots_request", roots())
                    : done("Found " + Trees.list(roots.others().get("roots")).size() + " root(s)");
        });
        confirmed("test_input_required_result_request_state", "state-ok: requestState validated");
        confirmed("test_input_required_result_tampered_state", "integrity-ok: state verified");
        tool("test_input_required_result_multiple_inputs", (call, exchange) -> {
            String name = field(call.answers().get("user_name"), "name");
            InputResponse greeting = call.answers().get("greeting");
            InputResponse roots = call.answers().get("client_roots");
            if (name != null && greeting != null && roots != null && call.state() != null) {
                return done("Name: " + name + "; Greeting: "
                        + greeting.form().get("text") + "; Roots: "
                        + Trees.list(roots.others().get("roots")).size());
            }
            var all = new LinkedHashMap<String, InputRequest>();
            all.put("user_name", elicitation("What is your name?", NAME));
            all.put("greeting", sampling("Generate a greeting"));
            all.put("client_roots", roots());
            return new Outcome.Questions<>(all, "multiple-inputs");
        });
        tool("test_input_required_result_multi_round", (call, exchange) -> {
            String state = call.state() == null ? "" : call.state();
            String name = field(call.answers().get("step1"), "name");
            String color = field(call.answers().get("step2"), "color");
            if (state.startsWith("2 ") && color != null) {
                return done("Multi-round complete for " + state.substring(2) + " who likes " + color);
            }
            if (state.equals("1") && name != null) {
                return new Outcome.Questions<>(
                        Map.of(
                                "step2",
                                elicitation(
                                        "Step 2: What is your favorite color?",
                                        "{'type':'object','properties':{'color':{'type':'string'}},'required':['color']}")),
                        "2 " + name);
            }
            return new Outcome.Questions<>(Map.of("step1", elicitation("Step 1: What is your name?", NAME)), "1");
        });
        tool("test_input_required_result_capabilities", (call, exchange) -> {
            if (!call.answers().isEmpty()) {
                return done("capabilities-ok: received " + call.answers().keySet());
            }
            var all = new LinkedHashMap<String, InputRequest>();
            if (exchange.clientCapabilities().containsKey("elicitation")) {
                all.put("elicit_input", elicitation("Elicitation input", NAME));
            }
            if (exchange.clientCapabilities().containsKey("sampling")) {
                all.put("sample_input", sampling("Sample request"));
            }
            return all.isEmpty()
                    ? done("No supported capabilities declared")
                    : new Outcome.Questions<>(all, "capabilities-test");
        });
    }

    private void confirmed(String name, String text) {
        tool(
                name,
                (call, exchange) -> call.state() != null && call.answers().containsKey("confirm")
                        ? done(text)
                        : new Outcome.Questions<>(Map.of("confirm", elicitation("Please confirm", OK)), "confirming"));
    }

    private void diagnostics() {
        tool("test_missing_capability", (call, exchange) -> {
            if (!exchange.clientCapabilities().containsKey("sampling")) {
                throw new McpException(
                        McpException.MISSING_CLIENT_CAPABILITY,
                        "sampling is needed",
                        Map.of("requiredCapabilities", Map.of("sampling", Map.of())));
            }
            return done("Success");
        });
        tool("test_streaming_elicitation", (call, exchange) -> {
            exchange.progress(50, 100.0, null);
            return done("Streaming complete");
        });
        tool("test_logging_tool", (call, exchange) -> {
            exchange.log("info", "Diagnostic trace logging activated");
            return done("Logging evaluated");
        });
        tool("test_trigger_tool_change", (call, exchange) -> changed("tools"));
        tool("test_trigger_prompt_change", (call, exchange) -> changed("prompts"));
    }

    private Outcome<CallResult> changed(String kind) {
        listeners.forEach(each -> each.accept(kind));
        return done("Mutation triggered");
    }

    private static boolean hasTasks(Exchange exchange) {
        return Trees.map(exchange.clientCapabilities().get("extensions")).containsKey("io.modelcontextprotocol/tasks");
    }

    private void taskTools() {
        tool("greet", (call, exchange) -> done("Hello, " + call.arguments().get("name") + "!"));
        tool("slow_compute", (call, exchange) -> {
            int seconds = call.arguments().get("seconds") instanceof Number number ? number.intValue() : 0;
            return !hasTasks(exchange)
                    ? done("computed")
                    : new Outcome.Begun<>(tasks.after(
                            Duration.ofSeconds(seconds), "completed", "result", text("computed"), exchange.caller()));
        });
        tool(
                "failing_job",
                (call, exchange) -> new Outcome.Begun<>(tasks.after(
                        Duration.ZERO,
                        "completed",
                        "result",
                        Objects.requireNonNull(ResultModel.CALL.toJson(CallResult.error("failed"))),
                        exchange.caller())));
        tool(
                "protocol_error_job",
                (call, exchange) -> new Outcome.Begun<>(tasks.after(
                        Duration.ZERO,
                        "failed",
                        "error",
                        new RawJson().with("code", McpException.INTERNAL_ERROR).with("message", "broken"),
                        exchange.caller())));
        tool(
                "confirm_delete",
                (call, exchange) -> new Outcome.Begun<>(tasks.asking(
                        Map.of(
                                "confirm",
                                elicitation(
                                        "Delete?",
                                        "{'type':'object','properties':{'confirm':{'type':'boolean'}},'required':['confirm']}")),
                        answers -> "deleted " + answers,
                        exchange.caller())));
        tool(
                "multi_input",
                (call, exchange) -> new Outcome.Begun<>(tasks.asking(
                        Map.of("one", elicitation("One?", NAME), "two", elicitation("Two?", NAME)),
                        answers -> "answered " + answers,
                        exchange.caller())));
        tool("test_tool_with_task", (call, exchange) -> {
            String name = field(call.answers().get("user_name"), "name");
            return name == null
                    ? new Outcome.Questions<>(
                            Map.of("user_name", elicitation("What is your name?", NAME)), "before the task")
                    : new Outcome.Begun<>(tasks.after(
                            Duration.ofMillis(100), "completed", "result", text("Hello, " + name), exchange.caller()));
        });
    }

    @Override
    public List<Tool> tools(CallContext caller) {
        return fixtures.values().stream().map(Fixture::tool).toList();
    }

    @Override
    public Outcome<CallResult> call(Invocation call, Exchange exchange) throws InterruptedException {
        Fixture fixture = fixtures.get(call.name());
        if (fixture == null) {
            throw McpException.notFound("tool", call.name());
        }
        return fixture.handler().call(call, exchange);
    }

    @Override
    public List<Resource> resources(CallContext caller) {
        return List.of(
                new Resource("test://static-text", "static-text", null, null, "text/plain"),
                new Resource("test://static-binary", "static-binary", null, null, "image/png"),
                new Resource("test://watched-resource", "watched-resource", null, null, "text/plain"));
    }

    @Override
    public List<Resource> resourceTemplates(CallContext caller) {
        return List.of(new Resource("test://template/{id}/data", "template", null, null, "application/json"));
    }

    @Override
    public List<ResourceContent> read(String uri, CallContext caller) {
        return List.of(
                switch (uri) {
                    case "test://static-text", "test://watched-resource" ->
                        ResourceContent.text(uri, "text/plain", "This is the content of the static text resource.");
                    case "test://static-binary" -> ResourceContent.blob(uri, "image/png", IMAGE);
                    default -> {
                        if (!uri.matches("test://template/[^/]+/data")) {
                            throw McpException.notFound("resource", uri);
                        }
                        String id = uri.split("/", -1)[3];
                        yield ResourceContent.text(
                                uri,
                                "application/json",
                                "{\"id\":\"" + id + "\",\"data\":\"Data for ID: " + id + "\"}");
                    }
                });
    }

    @Override
    public List<Prompt> prompts(CallContext caller) {
        return List.of(
                new Prompt("test_simple_prompt", "Simple", "A prompt without arguments", List.of()),
                new Prompt(
                        "test_prompt_with_arguments",
                        null,
                        "A prompt with arguments",
                        List.of(
                                new Prompt.Argument("arg1", "First", true),
                                new Prompt.Argument("arg2", "Second", true))),
                new Prompt(
                        "test_prompt_with_embedded_resource",
                        null,
                        "Embeds a resource",
                        List.of(new Prompt.Argument("resourceUri", "URI", true))),
                new Prompt("test_prompt_with_image", null, "Has an image", List.of()),
                new Prompt("test_input_required_result_prompt", null, "Asks", List.of()));
    }

    @Override
    public Outcome<PromptResult> prompt(Invocation call, Exchange exchange) {
        Object uri = call.arguments().get("resourceUri");
        return switch (call.name()) {
            case "test_simple_prompt" -> messages("{'type':'text','text':'This is a simple prompt for testing.'}");
            case "test_prompt_with_arguments" ->
                messages("{'type':'text','text':'Prompt with arguments: arg1=\\u0027"
                        + call.arguments().get("arg1") + "\\u0027, arg2=\\u0027"
                        + call.arguments().get("arg2") + "\\u0027'}");
            case "test_prompt_with_embedded_resource" ->
                messages(
                        "{'type':'resource','resource':{'uri':'" + uri
                                + "','mimeType':'text/plain','text':'Embedded resource content for testing.'}}",
                        "{'type':'text','text':'Please process the embedded resource above.'}");
            case "test_prompt_with_image" ->
                messages(
                        "{'type':'image','data':'" + IMAGE + "','mimeType':'image/png'}",
                        "{'type':'text','text':'Please analyze the image above.'}");
            case "test_input_required_result_prompt" -> {
                String context = field(call.answers().get("user_context"), "context");
                yield context == null
                        ? ask(
                                "user_context",
                                elicitation(
                                        "What context should the prompt use?",
                                        "{'type':'object','properties':{'context':{'type':'string'}},'required':['context']}"))
                        : messages("{'type':'text','text':'Prompt with context: " + context + "'}");
            }
            default -> throw McpException.notFound("prompt", call.name());
        };
    }

    private static Outcome<PromptResult> messages(String... contents) {
        CallResult result = ResultModel.call(json("{'content':[" + String.join(",", contents) + "]}"));
        return new Outcome.Complete<>(new PromptResult(
                null, result.content().stream().map(PromptResult.Message::user).toList()));
    }

    @Override
    public McpTasks tasks() {
        return tasks;
    }

    @Override
    public AutoCloseable onChange(CallContext caller, Consumer<String> listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    @Override
    public void close() {
        tasks.close();
    }
}
