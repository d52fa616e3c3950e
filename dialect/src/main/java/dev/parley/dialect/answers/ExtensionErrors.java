package dev.parley.dialect.answers;

import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.util.List;
import java.util.ServiceLoader;

/** Errors of the extensions that modules of the program provide. */
public final class ExtensionErrors {
    public static final List<ErrorKind> INSTALLED =
            ServiceLoader.load(ExtensionProtocol.Provider.class, ExtensionErrors.class.getClassLoader()).stream()
                    .flatMap(provider -> provider.get().protocols().stream())
                    .flatMap(protocol -> protocol.errors().stream())
                    .toList();

    private ExtensionErrors() {}
}
