package dev.parley.pipelines.repair;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.Tool;
import dev.parley.mcp.stdio.McpServer;
import dev.parley.protocol.CallContext;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** MCP servers of the workshop, each with one or two tools. Safe for any thread. */
public final class RepairTools implements McpProvider {
    /** Names of the servers. */
    public static final List<String> NAMES = List.of("scanner", "manual", "lift");

    private static final double HIGHEST_METERS = 2.5;

    private final Tool tool;
    private final Function<Invocation, Outcome<CallResult>> call;

    private RepairTools(Tool tool, Function<Invocation, Outcome<CallResult>> call) {
        this.tool = tool;
        this.call = call;
    }

    /**
     * A server by its name.
     *
     * @param crashes file that the scanner makes before it halts the process in its first call; null for a scanner that does not
     */
    public static Optional<RepairTools> named(String name, @Nullable Path crashes) {
        return Optional.ofNullable(
                switch (name) {
                    case "scanner" -> scanner(crashes);
                    case "manual" -> manual();
                    case "lift" -> lift();
                    default -> null;
                });
    }

    /**
     * Serves one of the servers over the standard streams.
     *
     * @param arguments its name, and for a scanner that halts in its first call the file of {@link #named}
     */
    public static void main(String[] arguments) throws IOException {
        String name = arguments.length == 0 ? "" : arguments[0];
        RepairTools server = named(name, arguments.length > 1 ? Path.of(arguments[1]) : null)
                .orElseThrow(() -> new IllegalArgumentException(
                        "server \"" + name + "\": unknown (expected: " + String.join(", ", NAMES) + ")"));
        McpServer.of(server, ServerInfo.of(name, "1.0.0")).stdio();
    }

    private static RepairTools scanner(@Nullable Path crashes) {
        return new RepairTools(
                new Tool(
                        "scan_vehicle_for_error_codes",
                        "Scan a vehicle",
                        "Reads the error codes that a vehicle has stored",
                        schema(Map.of("vehicle_id", text("Number of the vehicle, such as XYZ123"))),
                        null,
                        Map.of("readOnlyHint", true, "openWorldHint", false)),
                call -> {
                    if (crashes != null && isFirst(crashes)) {
                        Runtime.getRuntime().halt(3);
                    }
                    String vehicle = argument(call, "vehicle_id");
                    return vehicle.equals("XYZ123")
                            ? result(Map.of(
                                    "vehicle_id",
                                    vehicle,
                                    "codes",
                                    List.of(Map.of("code", "P0300", "text", "Random misfire detected"))))
                            : failure("vehicle \"" + vehicle + "\": does not answer (expected: XYZ123)");
                });
    }

    private static boolean isFirst(Path crashes) {
        try {
            Files.createFile(crashes);
            return true;
        } catch (FileAlreadyExistsException second) {
            return false;
        } catch (IOException unwritable) {
            throw new McpException(McpException.INTERNAL_ERROR, "cannot write " + crashes);
        }
    }

    private static RepairTools manual() {
        return new RepairTools(
                new Tool(
                        "get_repair_procedure",
                        "Look up a repair",
                        "Returns the steps and the parts of the repair that the manual names for an error code",
                        schema(new LinkedHashMap<>(Map.of(
                                "error_code", text("Code of the scanner, such as P0300"),
                                "vehicle_make", text("Make, such as Toyota"),
                                "vehicle_model", text("Model, such as Camry")))),
                        null,
                        Map.of("readOnlyHint", true, "idempotentHint", true, "openWorldHint", false)),
                call -> {
                    String code = argument(call, "error_code");
                    String car = argument(call, "vehicle_make") + " " + argument(call, "vehicle_model");
                    if (!code.equals("P0300") || !car.equals("Toyota Camry")) {
                        return failure(
                                "no procedure for " + code + " of a " + car + " (expected: P0300 of a Toyota Camry)");
                    }
                    return result(Map.of(
                            "title",
                            "Misfire with a rattling noise: replace the hydraulic engine mount",
                            "steps",
                            List.of(
                                    "Raise the vehicle and look for fluid below the engine mount.",
                                    "Support the engine and remove the mount.",
                                    "Install the new mount and clear the error codes."),
                            "parts",
                            List.of(Map.of("number", "12345", "name", "Hydraulic engine mount"))));
                });
    }

    private static RepairTools lift() {
        return new RepairTools(
                new Tool(
                        "raise_platform",
                        "Raise the lift",
                        "Raises the platform with the vehicle on it, after a person has agreed",
                        schema(Map.of(
                                "height_meters",
                                Map.of("type", "number", "exclusiveMinimum", 0, "maximum", HIGHEST_METERS))),
                        null,
                        Map.of("destructiveHint", true, "openWorldHint", false)),
                RepairTools::raise);
    }

    private static Outcome<CallResult> raise(Invocation call) {
        if (!(call.arguments().get("height_meters") instanceof Number height)
                || !(height.doubleValue() > 0 && height.doubleValue() <= HIGHEST_METERS)) {
            return failure("height_meters: " + call.arguments().get("height_meters")
                    + " (expected: a number above 0, at most " + HIGHEST_METERS + ")");
        }
        InputResponse answer = call.answers().get("agreement");
        if (answer == null) {
            InputRequest question = InputRequest.form(
                    "Raise the platform by " + height + " m? The area below it has to be clear.",
                    Map.of(
                            "type",
                            "object",
                            "properties",
                            Map.of("agree", Map.of("type", "boolean", "title", "The area is clear")),
                            "required",
                            List.of("agree")));
            return new Outcome.Questions<>(Map.of("agreement", question), null);
        }
        boolean agreed =
                answer.isAccepted() && Boolean.TRUE.equals(answer.form().get("agree"));
        return agreed
                ? result(Map.of("raised", true, "height_meters", height))
                : result(Map.of("raised", false, "reason", "declined"));
    }

    @Override
    public List<Tool> tools(CallContext caller) {
        return List.of(tool);
    }

    @Override
    public Outcome<CallResult> call(Invocation call, Exchange exchange) {
        if (!call.name().equals(tool.name())) {
            throw McpException.notFound("tool", call.name());
        }
        return this.call.apply(call);
    }

    private static Map<String, @Nullable Object> schema(Map<String, ? extends Object> properties) {
        return new LinkedHashMap<>(
                Map.of("type", "object", "properties", properties, "required", List.copyOf(properties.keySet())));
    }

    private static Map<String, Object> text(String description) {
        return Map.of("type", "string", "description", description);
    }

    private static String argument(Invocation call, String name) {
        return call.arguments().get(name) instanceof String text ? text : "";
    }

    private static Outcome<CallResult> result(Map<String, Object> content) {
        return new Outcome.Complete<>(
                CallResult.of(List.of(Content.text(new String(Json.write(content), UTF_8))), content));
    }

    private static Outcome<CallResult> failure(String problem) {
        return new Outcome.Complete<>(CallResult.error(problem));
    }
}
