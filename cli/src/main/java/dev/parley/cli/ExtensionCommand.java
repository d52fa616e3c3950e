package dev.parley.cli;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandOutput;
import dev.parley.command.ProgramCommand;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** A command of an extension among those of the program. */
final class ExtensionCommand implements Command {
    private final ProgramCommand command;
    private final Set<String> own = new HashSet<>();

    ExtensionCommand(ProgramCommand command) {
        this.command = command;
    }

    /** The command itself. */
    ProgramCommand command() {
        return command;
    }

    @Override
    public void describe(CommandSpec spec) {
        command.describe(spec);
        if (command.target() == ProgramCommand.Target.ADMINISTRATION) {
            spec.addOption(HubAdmin.option());
        }
        spec.options().forEach(option -> own.addAll(List.of(option.names())));
    }

    @Override
    public List<Setting<?>> relevant() {
        if (command.target() == ProgramCommand.Target.ADMINISTRATION) {
            return HubAdmin.SETTINGS;
        }
        var settings = new ArrayList<Setting<?>>();
        command.settings().forEach(flag -> settings.add(setting(flag)));
        settings.addAll(CONNECTION);
        settings.removeIf(setting -> own.contains(setting.flag()));
        return settings;
    }

    /** An option of the command has another meaning than a setting of the same name. */
    @Override
    public Settings settings(Surroundings around, Settings.Flags flags) {
        return Settings.ofClient(around, setting -> own.contains(setting.flag()) ? List.of() : flags.texts(setting));
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        return command.run(new Call(call));
    }

    private static Setting<?> setting(String flag) {
        return Setting.of(Setting.Scope.CLIENT).stream()
                .filter(setting -> setting.flag().equals(flag))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("setting \"" + flag + "\": unknown"));
    }

    /** One run, as extensions see it. */
    record Call(Invocation call) implements CommandCall {
        @Override
        public @Nullable String option(String name) {
            return call.option(name);
        }

        @Override
        public @Nullable Integer number(String name, int least, int most) {
            return call.number(name, least, most);
        }

        @Override
        public boolean has(String name) {
            return call.has(name);
        }

        @Override
        public @Nullable String argument(int index) {
            return call.argument(index);
        }

        @Override
        public String requiredArgument(int index) {
            return call.requiredArgument(index);
        }

        @Override
        public @Nullable String setting(String flag) {
            Object value = call.get(ExtensionCommand.setting(flag));
            return value == null ? null : value.toString();
        }

        @Override
        public CommandOutput output() {
            return new Writing(call.output());
        }

        @Override
        public InputStream in() {
            return call.around().in();
        }

        @Override
        public PrintStream out() {
            return call.around().out();
        }

        @Override
        public PrintStream err() {
            return call.around().err();
        }

        @Override
        public boolean isTerminal() {
            return call.around().terminal();
        }

        @Override
        public Path path(String typed) {
            return call.around().path(typed);
        }

        @Override
        public int connect(Work work) throws InterruptedException {
            return Connection.open(call, agent -> work.run(agent.client()));
        }

        @Override
        public byte[] admin(String method, String path, byte @Nullable [] body, String hint)
                throws InterruptedException {
            return body == null ? HubAdmin.ask(call, method, path, hint) : HubAdmin.ask(call, method, path, body, hint);
        }
    }

    private record Writing(Output output) implements CommandOutput {
        @Override
        public boolean isJson() {
            return output.isJson();
        }

        @Override
        public void result(Supplier<byte[]> json, Consumer<Fields> text) {
            output.result(json, page -> text.accept(new PageFields(page)));
        }

        @Override
        public void print(String text) {
            output.print(text);
        }

        @Override
        public void line(String text) {
            output.print(TextPage.oneLine(text) + "\n");
        }

        @Override
        public void layout(@Nullable Object json) {
            output.print(PrettyJson.of(json) + "\n");
        }

        @Override
        public void note(String text) {
            output.note(text);
        }

        @Override
        public void progress(String text) {
            output.progress(text);
        }
    }

    private record PageFields(TextPage page) implements CommandOutput.Fields {
        @Override
        public CommandOutput.Fields field(String label, @Nullable Object value) {
            page.field(label, value);
            return this;
        }

        @Override
        public CommandOutput.Fields block(String label, String content) {
            page.block(label, content);
            return this;
        }

        @Override
        public CommandOutput.Fields layout(String label, @Nullable Object json) {
            page.block(label, PrettyJson.of(json));
            return this;
        }

        @Override
        public CommandOutput.Fields gap() {
            page.gap();
            return this;
        }
    }
}
