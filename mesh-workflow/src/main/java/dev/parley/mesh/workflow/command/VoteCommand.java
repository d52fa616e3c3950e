package dev.parley.mesh.workflow.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.Parameters;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.ListVotes;
import dev.parley.mesh.workflow.WorkflowOperation.VotePage;
import dev.parley.mesh.workflow.WorkflowOperation.VoteView;
import dev.parley.mesh.workflow.WorkflowProtocol;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley workflow votes} and {@code vote}: the votes of principals at a hub. */
abstract class VoteCommand extends WorkflowCommand {
    static int show(CommandCall call, VoteView vote) {
        if (call.output().isJson()) {
            call.output().print(new String(WorkflowProtocol.json(vote), UTF_8) + "\n");
        } else {
            call.output()
                    .line(vote.voteId() + "  " + vote.state().word() + "  "
                            + vote.voted().size() + " of "
                            + vote.vote().voters().size() + " ballots  "
                            + vote.vote().question() + "  "
                            + String.join(" | ", vote.vote().options()));
        }
        return 0;
    }

    /** Lists votes, the newest first. */
    static final class Votes extends VoteCommand {
        private static final String WAITING = "--waiting";
        private static final int MOST = 10_000;

        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Parameters.flag(WAITING, "Only open votes that lack the ballot of the caller."));
            spec.addOption(Parameters.option("--most", "N", "Limit of votes; default: 50."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Integer most = call.number("--most", 1, MOST);
            return connect(call, one -> {
                int left = most == null ? 50 : most;
                String token = null;
                do {
                    VotePage page = one.call(new ListVotes(call.has(WAITING), Math.min(left, 100), token), CALLER);
                    page.votes().forEach(vote -> show(call, vote));
                    left -= page.votes().size();
                    token = page.nextPageToken();
                } while (token != null && left > 0);
                return 0;
            });
        }
    }

    /** Casts a ballot. */
    static final class Ballot extends VoteCommand {
        private static final String VOTER = "--voter";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Parameters.argument(0, true, "ID", "Id of the vote, as \"parley workflow votes\" shows it."));
            spec.addPositional(Parameters.argument(1, true, "OPTION", "One of the options of the vote."));
            spec.addOption(Parameters.option(VOTER, "NAME", "Name of the voter, at a hub without authentication."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            var cast = new Cast(call.requiredArgument(0), call.requiredArgument(1), call.option(VOTER));
            return connect(call, one -> show(call, one.call(cast, CALLER)));
        }
    }
}
