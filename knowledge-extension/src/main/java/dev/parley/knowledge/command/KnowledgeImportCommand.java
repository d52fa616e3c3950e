package dev.parley.knowledge.command;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.rdf.RdfFileException;
import dev.parley.knowledge.rdf.RdfFiles;
import dev.parley.protocol.CallContext;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code parley kg import}: the statements of a file, in updates of as many as one may have.
 *
 * <p>What was sent is counted in statements of the file, so an interrupted import continues after that number.
 */
final class KnowledgeImportCommand extends KnowledgeCommand {
    /** An update of so many bytes is well within what a request may have. */
    private static final int MAX_BYTES = 512 * 1024;

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(0, true, "FILE", "The file; - for standard input, with --format."));
        spec.addOption(
                Parameters.option("--format", "NAME", "Default: by the ending of the file's name. " + formats()));
        spec.addOption(Parameters.option("--graph", "ID", "The graph of statements that are in none."));
        spec.addOption(Parameters.option("--certainty", "N", "How sure statements are that do not say so, 0 to 1."));
        spec.addOption(Parameters.option("--from", "N", "Leave out so many statements, which were imported before."));
        spec.addOption(Parameters.option("--state", "FILE", "Keep that number there, and begin after it next time."));
        spec.addOption(Parameters.option("--source", "AGENT", "Source of the statements."));
    }

    static String formats() {
        return String.join(
                        ", ",
                        Arrays.stream(RdfFiles.Format.values())
                                .map(KnowledgeImportCommand::name)
                                .toList()) + ".";
    }

    private static String name(RdfFiles.Format format) {
        return format.name().toLowerCase(Locale.ROOT).replace("_", "-");
    }

    /** The format that an option names, or else a file's name. */
    static RdfFiles.Format format(CommandCall call, @Nullable String file) {
        String typed = call.option("--format");
        if (typed != null) {
            return Arrays.stream(RdfFiles.Format.values())
                    .filter(one -> name(one)
                            .replace("-", "")
                            .equals(typed.toLowerCase(Locale.ROOT).replace("-", "")))
                    .findFirst()
                    .orElseThrow(() -> CommandException.usage(
                            "invalid --format: " + typed + " (expected: one of " + formats() + ")", null));
        }
        return RdfFiles.Format.of(file == null ? "" : file)
                .orElseThrow(
                        () -> CommandException.usage("no format (expected: --format, one of " + formats() + ")", null));
    }

    @Override
    void run(CommandCall call, KnowledgeEndpoint graph) {
        String file = call.requiredArgument(0);
        RdfFiles.Format format = format(call, file);
        var importing = new Importing(call, graph, file);
        try (InputStream in = open(call, file)) {
            String source = file.equals("-") ? "standard input" : file;
            var defaults = new RdfFiles.Defaults(source, certainty(call), call.option("--graph"));
            RdfFiles.read(in, format, defaults, importing::read, importing::take);
            importing.flush();
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read " + file + ": " + unreadable.getMessage(), null);
        } catch (RdfFileException broken) {
            throw CommandException.failed(
                    "InvalidFile",
                    file + (broken.line() > 0 ? ", line " + broken.line() : "") + ": " + broken.getMessage(),
                    importing.resume());
        } catch (RuntimeException failure) {
            call.output().note(importing.resume());
            throw failure;
        }
        importing.report();
    }

    private static InputStream open(CommandCall call, String file) throws IOException {
        return file.equals("-") ? call.in() : new BufferedInputStream(Files.newInputStream(call.path(file)));
    }

    /** One run over a file. */
    private static final class Importing {
        private final CommandCall call;
        private final KnowledgeEndpoint graph;
        private final String file;
        private final @Nullable Path state;
        private final long skipped;
        private final long size;
        private final long began = System.nanoTime();
        private final List<Patch> batch = new ArrayList<>();
        private int bytes;
        private long seen;
        private long done;
        private long read;
        private long affected;

        Importing(CommandCall call, KnowledgeEndpoint graph, String file) {
            this.call = call;
            this.graph = graph;
            this.file = file;
            String typed = call.option("--state");
            this.state = typed == null ? null : call.path(typed);
            Integer from = call.number("--from", 0, Integer.MAX_VALUE);
            this.skipped = from == null ? kept(state) : from;
            this.done = skipped;
            this.size = size(call, file);
        }

        private static long kept(@Nullable Path state) {
            try {
                return state == null || !Files.exists(state)
                        ? 0
                        : Long.parseLong(Files.readString(state).strip());
            } catch (IOException | NumberFormatException unreadable) {
                throw CommandException.usage(state + " holds no number of statements", "remove it to begin anew");
            }
        }

        private static long size(CommandCall call, String file) {
            try {
                return file.equals("-") ? 0 : Files.size(call.path(file));
            } catch (IOException unreadable) {
                throw CommandException.usage("cannot read " + file + ": " + unreadable.getMessage(), null);
            }
        }

        void read(long bytes) {
            read = bytes;
        }

        void take(Statement statement) {
            if (++seen <= skipped) {
                return;
            }
            batch.add(Patch.add(statement));
            bytes += Json.write(statement).length;
            if (batch.size() == KnowledgeOperation.MAX_MUTATIONS || bytes >= MAX_BYTES) {
                flush();
            }
        }

        void flush() {
            if (batch.isEmpty()) {
                return;
            }
            var update = new Update(batch, null, call.option("--source"), "import of " + file, null, null, Map.of());
            UpdateResult result = graph.update(update, CallContext.anonymous());
            if (!result.success()) {
                String details = result.verificationDetails() == null ? "" : ": " + result.verificationDetails();
                throw CommandException.failed(
                        "KnowledgeUpdateRejected",
                        result.verificationStatus() + details + ", in statements " + (done + 1) + " to "
                                + (done + batch.size()),
                        null);
            }
            affected += result.statementsAffected() == null ? 0 : result.statementsAffected();
            done += batch.size();
            batch.clear();
            bytes = 0;
            keep();
            call.output().progress(progress());
        }

        private void keep() {
            if (state == null) {
                return;
            }
            try {
                Files.writeString(state, done + "\n");
            } catch (IOException unwritable) {
                throw CommandException.usage("cannot write " + state + ": " + unwritable.getMessage(), null);
            }
        }

        private double rate() {
            return (done - skipped) / Math.max(0.001, (System.nanoTime() - began) / 1e9);
        }

        private String progress() {
            int percent = size == 0 ? 0 : (int) Math.min(100, 100 * read / size);
            String bar = size == 0
                    ? ""
                    : "[" + "#".repeat(percent / 5) + ".".repeat(20 - percent / 5) + "] " + percent + "% ";
            return bar + String.format(Locale.ROOT, "%,d statements, %,.0f/s", done, rate());
        }

        String resume() {
            return done + " statements are imported; go on with --from " + done;
        }

        void report() {
            var report = new LinkedHashMap<String, @Nullable Object>();
            report.put("statements", done - skipped);
            report.put("affected", affected);
            report.put("seconds", Math.round((System.nanoTime() - began) / 1e6) / 1000.0);
            report.put("perSecond", Math.round(rate()));
            call.output()
                    .result(
                            () -> Json.write(report),
                            page -> page.field("Statements", report.get("statements"))
                                    .field("Affected", report.get("affected"))
                                    .field("Seconds", report.get("seconds"))
                                    .field("Per-Second", report.get("perSecond")));
        }
    }
}
