package dev.parley.knowledge.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandOutput;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg rules}, {@code shapes} and {@code review …}: what the operator of a hub says about a graph. */
abstract class KnowledgeAdminCommand implements ProgramCommand {
    private static final String HINT =
            "parley kg review list shows what waits, docs/knowledge.md what rules and shapes look like";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Parameters.option("--group", "GROUP", "Group of the graph. Default: the group default."));
    }

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    /** Calls an operation on the graph of {@code --group}, with one more parameter. */
    private static Map<?, ?> ask(CommandCall call, String operation, String name, @Nullable Object value)
            throws InterruptedException {
        var values = new HashMap<String, @Nullable Object>();
        values.put("group", call.option("--group"));
        values.put(name, value);
        return call.admin("knowledge/" + operation, values, HINT);
    }

    /** Text of the file that the argument names; null without one. */
    private static @Nullable String file(CommandCall call) {
        String file = call.argument(0);
        return file == null ? null : call.text(file.equals("-") ? file : "@" + file);
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
            String file = file(call);
            Object rules = file == null ? null : Json.read(file.getBytes(UTF_8), Map.class);
            Map<?, ?> answer = ask(call, rules == null ? "rules" : "rules/set", "rules", rules);
            if (call.output().isJson()) {
                call.output().result(() -> Json.write(answer), page -> {});
            } else {
                call.output().layout(answer);
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
            Map<?, ?> answer = ask(call, shapes == null ? "shapes" : "shapes/set", MEMBER, shapes);
            String text = String.valueOf(answer.get(MEMBER));
            if (call.output().isJson()) {
                call.output().result(() -> Json.write(answer), page -> {});
            } else {
                call.output().print(text.endsWith("\n") ? text : text + "\n");
            }
            return 0;
        }
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
            Map<?, ?> answer = ask(call, "reviews/list", "state", call.has("--all") ? "all" : null);
            call.output().result(() -> Json.write(answer), page -> {
                if (answer.get("reviews") instanceof List<?> reviews) {
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
            var values = new HashMap<String, @Nullable Object>();
            values.put("id", call.requiredArgument(0));
            values.put("remark", call.option("--remark"));
            values.put("group", call.option("--group"));
            Map<?, ?> answer = call.admin("knowledge/reviews/" + verb, values, HINT);
            call.output()
                    .result(
                            () -> Json.write(answer),
                            page -> page.field("Review-ID", values.get("id"))
                                    .field("Decision", verb.equals("approve") ? "approved" : "rejected")
                                    .field("Status", answer.get("verificationStatus"))
                                    .field("Details", answer.get("verificationDetails")));
            return 0;
        }
    }
}
