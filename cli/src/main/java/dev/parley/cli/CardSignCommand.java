package dev.parley.cli;

import dev.parley.trust.cards.CardKeys;
import java.io.UncheckedIOException;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley card sign}: shows a card with a signature. */
final class CardSignCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, true, "FILE", "The card."));
        spec.addOption(Command.option("--key", "FILE", "The key: see parley card key create. Required."));
        spec.addOption(
                Command.option("--jku", "URL", "Where the public half is published, to be named in the signature."));
        spec.usageMessage()
                .footer("", "Signatures that the card has already are kept, except for one by the same key.");
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT);
    }

    @Override
    public int run(Invocation call) {
        String keyFile = call.option("--key");
        if (keyFile == null) {
            throw CliException.usage("no key to sign with", "give --key FILE; parley card key create FILE makes one");
        }
        CardKeys keys = keys(call, List.of(keyFile));
        CardSource.Found card = CardSource.file(call.around().path(call.requiredArgument(0)));
        card.card(); // throws if it is no card
        call.output().json(keys.signer(call.option("--jku")).signed(card.bytes()));
        return 0;
    }

    /** The keys in files, of which the first one signs. */
    static CardKeys keys(Invocation call, List<String> files) {
        try {
            return CardKeys.read(files.stream().map(call.around()::path).toList());
        } catch (IllegalArgumentException | UncheckedIOException wrong) {
            throw CliException.usage(String.valueOf(wrong.getMessage()), "see docs/signatures.md");
        }
    }
}
