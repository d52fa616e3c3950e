package dev.parley.cli;

import dev.parley.cli.admin.HubAdmin;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.CardSignatures;
import dev.parley.cli.connection.Requests;
import dev.parley.client.AgentClientBuilder;
import dev.parley.command.CommandCall;
import dev.parley.command.ProgramCommand;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.trust.cards.CardTrust;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** One run of a command of an extension. */
final class ExtensionCall extends Invocation implements CommandCall {
    /** Settings of connections, for commands for a hub that call it as an agent. */
    private static final List<String> CONNECTING = List.of("allow-origin", "insecure-http", "timeout");

    private final List<ExtensionProtocol> protocols;

    private ExtensionCall(Invocation call, List<ExtensionProtocol> protocols) {
        super(call);
        this.protocols = protocols;
    }

    /** Returns the command of an extension as one of the program. */
    static Command command(ProgramCommand extension) {
        Command.Work work = call -> extension.run(new ExtensionCall(call, extension.protocols()));
        Supplier<Stream<String>> names = () -> extension.settings().stream().map(flag -> flag.substring(2));
        if (extension.getClass().isAnnotationPresent(CommandLine.Command.class)) {
            return Command.of(new CommandLine(extension).getCommandSpec(), work)
                    .ownOptions()
                    .settings(names.get().map(Setting::client).toList())
                    .withoutSettings();
        }
        var spec = CommandSpec.create();
        extension.describe(spec);
        Command command = Command.of(spec, work);
        if (extension.target() == ProgramCommand.Target.ADMINISTRATION) {
            Stream<Setting> more = names.get().map(Setting::client);
            return command.option(HubAdmin.option())
                    .ownOptions()
                    .strict()
                    .settings(Stream.of(
                                    HubAdmin.settings().stream(),
                                    CONNECTING.stream().map(Setting::client),
                                    more)
                            .flatMap(settings -> settings)
                            .distinct()
                            .toList());
        }
        return command.ownOptions()
                .strict()
                .agent(Stream.concat(names.get(), Stream.of("timeout"))
                        .distinct()
                        .toArray(String[]::new));
    }

    @Override
    public List<ExtensionProtocol> protocols() {
        return protocols;
    }

    @Override
    public @Nullable String setting(String flag) {
        Setting setting = Setting.client(flag.substring(2));
        return settings().texts(setting).isEmpty()
                ? null
                : String.join(",", settings().texts(setting));
    }

    @Override
    public @Nullable BiFunction<byte[], String, Verdict> verifier() {
        CardTrust trust = CardSignatures.trust(this).orElse(null);
        return trust == null ? null : (payload, jws) -> trust.verify(payload, jws, null);
    }

    @Override
    public InputStream in() {
        return around().in();
    }

    @Override
    public PrintStream out() {
        return around().out();
    }

    @Override
    public PrintStream err() {
        return around().err();
    }

    @Override
    public boolean isTerminal() {
        return around().terminal();
    }

    @Override
    public int connect(Work work) throws InterruptedException {
        return AgentConnection.open(this, agent -> work.run(agent.client()));
    }

    @Override
    public int connect(String agent, Work work) throws InterruptedException {
        return AgentConnection.open(this, agent, opened -> work.run(opened.client()));
    }

    @Override
    public @Nullable SSLContext sslContext() {
        return Requests.tls(this);
    }

    @Override
    public AgentClientBuilder clients() {
        return Requests.trusting(this);
    }

    @Override
    public Optional<byte[]> document(String url) {
        return AgentConnection.document(this, url);
    }

    @Override
    public Map<?, ?> admin(String operation, Map<String, ? extends @Nullable Object> values, String hint)
            throws InterruptedException {
        return HubAdmin.ask(this, operation, values, hint);
    }
}
