package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg rules}, {@code shapes} and {@code review …}: what the operator of a hub says about a graph. */
abstract class KnowledgeAdminCommand implements Command {
    private static final String PATH = "/admin/knowledge";
    private static final String HINT =
            "parley kg review list shows what waits, docs/knowledge.md what rules and shapes look like";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Command.option("--group", "GROUP", "Group of the graph. Default: the group default."));
        spec.addOption(HubAdmin.option());
    }

    /** Query parameters of a path: the group, and one more. */
    private static String query(Invocation call, String name, @Nullable String value) {
        var query = new StringJoiner("&", "?", "").setEmptyValue("");
        String group = call.option("--group");
        if (group != null) {
            query.add("group=" + HubAdmin.segment(group));
        }
        if (value != null) {
            query.add(name + "=" + HubAdmin.segment(value));
        }
        return query.toString();
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    /** Shows or sets the rules, which are JSON. */
    static final class Rules extends KnowledgeAdminCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, false, "FILE", "To set them: a JSON file; - for standard input."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            byte[] json = settle(call, "/rules", file(call));
            print(call, json, PrettyJson.of(Json.read(json, Map.class)));
            return 0;
        }
    }

    /** Shows or sets the shapes, which are Turtle. */
    static final class Shapes extends KnowledgeAdminCommand {
        private static final String MEMBER = "turtle";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(
                    0, false, "FILE", "To set them: SHACL in Turtle, empty for none; - for standard input."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String shapes = file(call);
            byte[] json = settle(
                    call, "/shapes", shapes == null ? null : new String(Json.write(Map.of(MEMBER, shapes)), UTF_8));
            print(call, json, String.valueOf(Json.read(json, Map.class).get(MEMBER)));
            return 0;
        }
    }

    private static void print(Invocation call, byte[] json, String text) {
        if (call.output().isJson()) {
            call.output().result(() -> json, page -> {});
        } else {
            call.output().print(text.endsWith("\n") ? text : text + "\n");
        }
    }

    private static @Nullable String file(Invocation call) {
        String file = call.argument(0);
        return file == null ? null : KnowledgeCommand.text(call, file.equals("-") ? file : "@" + file);
    }

    private static byte[] settle(Invocation call, String path, @Nullable String body) throws InterruptedException {
        String place = PATH + path + query(call, "", null);
        return body == null
                ? HubAdmin.ask(call, "GET", place, HINT)
                : HubAdmin.ask(call, "POST", place, body.getBytes(UTF_8), HINT);
    }

    /** Lists what waits. */
    static final class ListAll extends KnowledgeAdminCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Command.flag("--all", "Also those that were decided."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            byte[] json = HubAdmin.ask(
                    call, "GET", PATH + "/reviews" + query(call, "state", call.has("--all") ? "all" : null), HINT);
            call.output().result(() -> json, page -> {
                if (Json.read(json, Map.class).get("reviews") instanceof List<?> reviews) {
                    reviews.forEach(one -> show(page, (Map<?, ?>) one));
                    page.field("Total-Size", reviews.size());
                }
            });
            return 0;
        }

        private static void show(TextPage page, Map<?, ?> review) {
            page.field("Review-ID", review.get("id"))
                    .field("State", review.get("state"))
                    .field("Made-At", review.get("madeAt"))
                    .field("Caller", review.get("caller"))
                    .field("Reason", review.get("reason"))
                    .field("Decided-By", review.get("decidedBy"))
                    .field("Remark", review.get("remark"))
                    .block("Update", PrettyJson.of(review.get("update")))
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
            spec.addPositional(Command.argument(0, true, "REVIEW-ID", "The number under which it waits."));
            spec.addOption(Command.option("--remark", "TEXT", "For people who read the history."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String id = call.requiredArgument(0);
            String path = PATH + "/reviews/" + HubAdmin.segment(id) + "/" + verb
                    + query(call, "remark", call.option("--remark"));
            byte[] json = HubAdmin.ask(call, "POST", path, HINT);
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
