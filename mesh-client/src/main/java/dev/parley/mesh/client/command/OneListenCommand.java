package dev.parley.mesh.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.client.OneIdentity;
import dev.parley.mesh.client.OneListener;
import dev.parley.mesh.client.OneListener.Message;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code parley one listen}: prints messages that arrive. */
@Command(
        footer = {
            "",
            "The address for callbacks is printed to standard error, each message to standard output as one line of JSON,",
            "decrypted if a key is given. A message that arrives again is printed once."
        })
final class OneListenCommand implements ProgramCommand {
    /** Messages that wait to be printed. Their senders wait, too. */
    private static final int WAITING = 64;

    @Option(names = "--as", paramLabel = "AGENT", description = "Agent id of the receiver. Default: parley.")
    private String agentId = OneSendCommand.DEFAULT_ID;

    @Option(names = "--port", paramLabel = "PORT", description = "Port to listen on; 0 takes a free one. Default: 0.")
    private int port;

    @Option(names = "--bind", paramLabel = "ADDRESS", description = "Address to listen on. Default: 127.0.0.1.")
    private String bind = "127.0.0.1";

    @Option(
            names = "--path",
            paramLabel = "PATH",
            description = "Path of the address. Default: a random one, which others cannot guess.")
    private @Nullable String path;

    @Option(names = "--public-url", paramLabel = "URL", description = "Address for senders, if it is another one.")
    private @Nullable String publicUrl;

    @Option(names = "--tls-cert", paramLabel = "FILE", description = "Certificate chain (PEM); needs --tls-key too.")
    private @Nullable String certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "Private key (PEM).")
    private @Nullable String key;

    @Option(
            names = "--trust",
            paramLabel = "FILE",
            description =
                    "Keys that may sign messages; others, and messages without a signature, are refused; repeatable.")
    private List<String> trust = List.of();

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "Secrets of webhooks, one in each line; others are refused.")
    private @Nullable String secretFile;

    @Option(names = "--decrypt-key", paramLabel = "FILE", description = "Key that decrypts content.")
    private @Nullable String decryptKey;

    @Option(names = "--count", paramLabel = "N", description = "End after this many messages. Default: never.")
    private long count = Long.MAX_VALUE;

    @Override
    public int run(CommandCall call) throws InterruptedException {
        BlockingQueue<Message> messages = new ArrayBlockingQueue<>(WAITING);
        try (OneListener listener = listener(call, messages)) {
            call.output().note("listening for messages to " + agentId + " at " + listener.url());
            for (long left = count; left > 0; left--) {
                call.output().print(line(messages.take()) + "\n");
            }
        } catch (UncheckedIOException taken) {
            throw CommandException.usage(String.valueOf(taken.getMessage()), "choose another --port or --bind");
        }
        return 0;
    }

    private OneListener listener(CommandCall call, BlockingQueue<Message> messages) {
        OneIdentity own = OneIdentity.of(agentId, "");
        if (decryptKey != null) {
            Path file = call.path(decryptKey);
            own = own.decrypting(OneKeyCommand.keys("--decrypt-key", () -> ContentKeys.read(file)));
        }
        if (!trust.isEmpty()) {
            List<Path> files = trust.stream().map(call::path).toList();
            own = own.trusting(OneKeyCommand.keys("--trust", () -> CardTrust.read(files)));
        }
        OneListener.Builder builder =
                OneListener.of(own).port(port).bindAddress(bind).others(message -> put(messages, message));
        if (path != null) {
            builder.path(path);
        }
        if (publicUrl != null) {
            builder.publicUrl(publicUrl);
        }
        if ((certificate == null) != (key == null)) {
            throw CommandException.usage("--tls-cert and --tls-key: one is missing (expected: both or none)", null);
        }
        if (certificate != null && key != null) {
            builder.tls(call.path(certificate), call.path(key));
        }
        if (secretFile != null) {
            List<String> secrets = lines(call.path(secretFile));
            OneListener.Builder checked = builder;
            builder = OneKeyCommand.keys("--secret-file", () -> checked.secrets(secrets));
        }
        return builder.start();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
        } catch (IOException unreadable) {
            throw CommandException.usage("--secret-file: cannot read " + file, null);
        }
    }

    private static void put(BlockingQueue<Message> messages, Message message) {
        try {
            messages.put(message);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the listener ends", stopped);
        }
    }

    private static String line(Message message) {
        Envelope plain = message.envelope().with(EnvelopeModel.body(message.content()));
        return new String(Json.write(EnvelopeModel.ENVELOPE.toJson(plain)), UTF_8);
    }
}
