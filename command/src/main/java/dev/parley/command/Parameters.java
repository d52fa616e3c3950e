package dev.parley.command;

import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Parameters of commands. */
public final class Parameters {
    private Parameters() {}

    /** An option with a value. */
    public static OptionSpec option(String name, String label, String description) {
        return OptionSpec.builder(name)
                .type(String.class)
                .arity("1")
                .paramLabel(label)
                .description(description)
                .build();
    }

    /** An option without a value. */
    public static OptionSpec flag(String name, String description) {
        return OptionSpec.builder(name)
                .type(Boolean.class)
                .arity("0")
                .description(description)
                .build();
    }

    /** An argument. */
    public static PositionalParamSpec argument(int index, boolean required, String label, String description) {
        return PositionalParamSpec.builder()
                .index(String.valueOf(index))
                .type(String.class)
                .required(required)
                .arity(required ? "1" : "0..1")
                .paramLabel(label)
                .description(description)
                .build();
    }

    /** An argument of any number of words, which {@link RowParameters.Typed#requiredArgument} joins by spaces. */
    public static PositionalParamSpec words(boolean required, String label, String description) {
        return PositionalParamSpec.builder()
                .index("0..*")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .required(required)
                .arity(required ? "1..*" : "0..*")
                .paramLabel(label)
                .description(description)
                .build();
    }
}
