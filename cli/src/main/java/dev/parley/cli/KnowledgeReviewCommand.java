package dev.parley.cli;

import dev.parley.dialect.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg review …}: updates that a rule has set aside until somebody has looked at them. */
abstract class KnowledgeReviewCommand implements Command {
    private static final String PATH = "/admin/knowledge/reviews";
    private static final String HINT = "parley kg review list shows what waits";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    /** Lists them. */
    static final class ListAll extends KnowledgeReviewCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Command.flag("--all", "Also those that were decided."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            byte[] json = HubAdmin.ask(call, "GET", PATH + (call.has("--all") ? "?state=all" : ""), HINT);
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
    static final class Decide extends KnowledgeReviewCommand {
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
            @Nullable String remark = call.option("--remark");
            String query = remark == null ? "" : "?remark=" + HubAdmin.segment(remark);
            byte[] json = HubAdmin.ask(call, "POST", PATH + "/" + HubAdmin.segment(id) + "/" + verb + query, HINT);
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
