package dev.parley.cli.task;

import static java.util.Objects.requireNonNull;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.command.CommandException;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The parts of a message in the order in which they stand on the command line.
 *
 * <p>Source: a2a-cli specification 0.2, section 10.2.
 */
public final class MessageParts implements IParameterConsumer {
    private static final long LARGE = 10L << 20;

    /** Of several extensions of a type, those of files. */
    private static final Set<String> PREFERRED = Set.of("html", "jpg", "yaml");

    /** Media types by the ending of a name; Java does not know all of them, nor the same ones on each machine. */
    private static final Properties TYPES = types();

    /** A part of the command line. {@code option} is the flag. */
    private record Typed(
            String option, String value, @Nullable String mediaType) {}

    private final List<Typed> typed = new ArrayList<>();

    /** The options that make parts. */
    public Command describe(Command command) {
        return command.option(option("--text", "TEXT", "A text part; repeatable, like the next two. Order is kept."))
                .option(option(
                        "--file", "PATH|URL", "A file part: a local file's bytes, or a URL for the agent to fetch."))
                .option(option("--data", "PATH|-", "A data part: JSON from a file, or from standard input."))
                .option(option(
                        "--media-type", "TYPE", "Media type of the part just before; otherwise it is inferred."));
    }

    private OptionSpec option(String name, String label, String description) {
        return OptionSpec.builder(name)
                .type(List.class)
                .auxiliaryTypes(String.class)
                .arity("1")
                .paramLabel(label)
                .description(description)
                .parameterConsumer(this)
                .build();
    }

    @Override
    public void consumeParameters(Stack<String> args, ArgSpec argument, CommandSpec command) {
        String name = ((OptionSpec) argument).longestName();
        if (args.isEmpty()) {
            throw new MissingParameterException(
                    command.commandLine(), argument, "Missing required parameter for option '" + name + "'");
        }
        String value = args.pop();
        if (!name.equals("--media-type")) {
            typed.add(new Typed(name, value, null));
            return;
        }
        Typed before = typed.isEmpty() ? null : typed.removeLast();
        if (before == null || before.mediaType() != null) {
            throw CommandException.usage(
                    "--media-type " + value + " belongs to no part",
                    "write it after the part it is for: --file report.bin --media-type application/pdf");
        }
        typed.add(new Typed(before.option(), before.value(), value));
    }

    /** The parts; {@code text} is the first of them, if there is one. */
    public List<Part> parts(@Nullable String text, Invocation call) {
        var parts = new ArrayList<Part>();
        boolean stdinRead = "-".equals(text);
        if (text != null) {
            parts.add(Part.text(plain(text, call)));
        }
        for (Typed part : typed) {
            if (part.option().equals("--data") && part.value().equals("-")) {
                if (stdinRead) {
                    throw CommandException.usage("standard input is named twice (expected: - once)", null);
                }
                stdinRead = true;
            }
            parts.add(
                    switch (part.option()) {
                        case "--text" -> new Part.Text(part.value(), null, part.mediaType(), Map.of());
                        case "--file" -> file(part, call);
                        default -> new Part.Data(data(part.value(), call), null, part.mediaType(), Map.of());
                    });
        }
        if (parts.isEmpty()) {
            throw CommandException.usage(
                    "nothing to send (expected: a text, --text, --file or --data)",
                    "parley send \"hello\"; parley send - reads standard input");
        }
        return parts;
    }

    /** A positional text: itself, {@code -} for standard input, {@code @file} for a file's text, {@code @@…} for an at sign. */
    private static String plain(String text, Invocation call) {
        if (text.equals("-")) {
            return new String(stdin(call), StandardCharsets.UTF_8);
        }
        if (text.startsWith("@@")) {
            return text.substring(1);
        }
        return text.startsWith("@") ? new String(bytes(text.substring(1), "text", call), StandardCharsets.UTF_8) : text;
    }

    private static Part file(Typed part, Invocation call) {
        String value = part.value();
        if (value.startsWith("http://") || value.startsWith("https://")) {
            return new Part.Url(value, null, part.mediaType(), Map.of());
        }
        byte[] bytes = bytes(value, "--file", call);
        if (bytes.length > LARGE) {
            call.output().warn(value + " has " + (bytes.length >> 20) + " MB: agents limit requests, a URL is better");
        }
        String name = String.valueOf(Path.of(value).getFileName());
        return new Part.Raw(bytes, name, part.mediaType() == null ? mediaType(name) : part.mediaType(), Map.of());
    }

    private static Properties types() {
        var types = new Properties();
        try (InputStream in = MessageParts.class.getResourceAsStream("media-types.properties")) {
            types.load(requireNonNull(in));
            return types;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The extension of files of a media type, with its dot; null if there is none. */
    static @Nullable String extension(String mediaType) {
        String type = mediaType.replaceFirst("\\s*;.*", "").toLowerCase(Locale.ROOT);
        return TYPES.stringPropertyNames().stream()
                .filter(extension -> TYPES.getProperty(extension).equals(type))
                .min(Comparator.comparingInt((String extension) -> PREFERRED.contains(extension) ? 0 : 1)
                        .thenComparing(extension -> extension))
                .map(extension -> "." + extension)
                .orElse(null);
    }

    /** The media type that a file name suggests; null if it suggests none. */
    public static @Nullable String mediaType(String name) {
        return TYPES.getProperty(name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT));
    }

    private static @Nullable Object data(String value, Invocation call) {
        byte[] json = value.equals("-") ? stdin(call) : bytes(value, "--data", call);
        try {
            // Read as a member, because a bare value may be null.
            var wrapped = new byte[json.length + 6];
            System.arraycopy("{\"d\":".getBytes(StandardCharsets.UTF_8), 0, wrapped, 0, 5);
            System.arraycopy(json, 0, wrapped, 5, json.length);
            wrapped[wrapped.length - 1] = '}';
            return ((Map<?, ?>) Json.read(wrapped, Map.class)).get("d");
        } catch (A2AException malformed) {
            throw CommandException.usage(
                    "--data " + value + " is not JSON: " + malformed.getMessage(),
                    "send it as text: --text or @" + value);
        }
    }

    private static byte[] bytes(String name, String what, Invocation call) {
        try {
            return Files.readAllBytes(call.path(name));
        } catch (NoSuchFileException missing) {
            throw CommandException.usage(what + ": no such file: " + name, null);
        } catch (IOException unreadable) {
            throw CommandException.usage(what + ": cannot read " + name + ": " + unreadable.getMessage(), null);
        }
    }

    private static byte[] stdin(Invocation call) {
        try {
            return call.around().in().readAllBytes();
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read standard input: " + unreadable.getMessage(), null);
        }
    }
}
