package dev.parley.knowledge.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandOutput;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg rules}, {@code shapes} and {@code review …}: what the operator of a hub says about a graph. */
abstract class KnowledgeAdminCommand implements ProgramCommand {
    private static final String PATH = "/admin/knowledge";
    private static final String HINT =
            "parley kg review list shows what waits, docs/knowledge.md what rules and shapes look like";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Parameters.option("--group", "GROUP", "Group of the graph. Default: the group default."));
    }

    private static String segment(String value) {
        return URLEncoder.encode(value, UTF_8).replace("+", "%20");
    }

    /** Query parameters of a path: the group, and one more. */
    private static String query(CommandCall call, String name, @Nullable String value) {
        var query = new StringJoiner("&", "?", "").setEmptyValue("");
        String group = call.option("--group");
        if (group != null) {
            query.add("group=" + segment(group));
        }
        if (value != null) {
            query.add(name + "=" + segment(value));
        }
        return query.toString();
    }

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    /** Shows or sets the rules, which are JSON. */
    static final class Rules extends KnowledgeAdminCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Parameters.argument(0, false, "FILE", "To set them: a JSON file; - for standard input."));
            super.describe(spec);
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            byte[] json = settle(call, "/rules", file(call));
            if (call.output().isJson()) {
                call.output().result(() -> json, page -> {});
            } else {
                call.output().layout(Json.read(json, Map.class));
            }
            return 0;
        }
    }

    /** Shows or sets the shapes, which are Turtle. */
    static final class Shapes extends KnowledgeAdminCommand {
        private static final String MEMBER = "turtle";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(
                    0, false, "FILE", "To set them: SHACL in Turtle, empty for none; - for standard input."));
            super.describe(spec);
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String shapes = file(call);
            byte[] json = settle(
                    call, "/shapes", shapes == null ? null : new String(Json.write(Map.of(MEMBER, shapes)), UTF_8));
            print(call, json, String.valueOf(Json.read(json, Map.class).get(MEMBER)));
            return 0;
        }
    }

    private static void print(CommandCall call, byte[] json, String text) {
        if (call.output().isJson()) {
            call.output().result(() -> json, page -> {});
        } else {
            call.output().print(text.endsWith("\n") ? text : text + "\n");
        }
    }

    private static @Nullable String file(CommandCall call) {
        String file = call.argument(0);
        return file == null ? null : KnowledgeCommand.text(call, file.equals("-") ? file : "@" + file);
    }

    private static byte[] settle(CommandCall call, String path, @Nullable String body) throws InterruptedException {
        String place = PATH + path + query(call, "", null);
        return body == null
                ? call.admin("GET", place, null, HINT)
                : call.admin("POST", place, body.getBytes(UTF_8), HINT);
    }

    /** Lists what waits. */
    static final class ListAll extends KnowledgeAdminCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Parameters.flag("--all", "Also updates that were decided."));
            super.describe(spec);
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            byte[] json = call.admin(
                    "GET", PATH + "/reviews" + query(call, "state", call.has("--all") ? "all" : null), null, HINT);
            call.output().result(() -> json, page -> {
                if (Json.read(json, Map.class).get("reviews") instanceof List<?> reviews) {
                    reviews.forEach(one -> show(page, (Map<?, ?>) one));
                    page.field("Total-Size", reviews.size());
                }
            });
            return 0;
        }

        private static void show(CommandOutput.Fields page, Map<?, ?> review) {
            page.field("Review-ID", review.get("id"))
                    .field("State", review.get("state"))
                    .field("Made-At", review.get("madeAt"))
                    .field("Caller", review.get("caller"))
                    .field("Reason", review.get("reason"))
                    .field("Decided-By", review.get("decidedBy"))
                    .field("Remark", review.get("remark"))
                    .layout("Update", review.get("update"))
                    .gap();
        }
    }

    /** Decides one. */
    static final class Decide extends KnowledgeAdminCommand {
        private final String verb;

        /** @param verb approve or reject */
        Decide(String verb) {
            this.verb = verb;
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "REVIEW-ID", "The number under which it waits."));
            spec.addOption(Parameters.option("--remark", "TEXT", "Remark for the history."));
            super.describe(spec);
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String id = call.requiredArgument(0);
            String path =
                    PATH + "/reviews/" + segment(id) + "/" + verb + query(call, "remark", call.option("--remark"));
            byte[] json = call.admin("POST", path, null, HINT);
            call.output().result(() -> json, page -> {
                Map<?, ?> answer = Json.read(json, Map.class);
                page.field("Review-ID", id)
                        .field("Decision", verb.equals("approve") ? "approved" : "rejected")
                        .field("Status", answer.get("verificationStatus"))
                        .field("Details", answer.get("verificationDetails"));
            });
            return 0;
        }
    }
}
