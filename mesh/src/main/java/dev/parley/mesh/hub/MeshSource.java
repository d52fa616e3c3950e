package dev.parley.mesh.hub;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MessageType;
import dev.parley.mesh.hub.MessageSignatures.Trust;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Adds the mesh to hubs. */
public final class MeshSource implements HubExtensionSource {
    /** Keys of senders, with the names of files instead of their contents. */
    private final Trust trust;

    private final MessageHandlers handlers;

    /** For the service loader. */
    public MeshSource() {
        this(new Trust(List.of(), List.of(), false), MessageHandlers.NONE);
    }

    private MeshSource(Trust trust, MessageHandlers handlers) {
        this.trust = trust;
        this.handlers = handlers;
    }

    /**
     * This source with code that handles the messages of a type which an agent of the hub receives, for {@code HubBuilder.extension}.
     *
     * @throws IllegalArgumentException for {@code task_delegation}, {@code query} and {@code coordination}, which begin tasks
     */
    public MeshSource handling(String agent, MessageType type, MessageHandler handler) {
        return new MeshSource(trust, handlers.with(agent, type, handler));
    }

    @Override
    public String uri() {
        return MeshProtocol.PROTOCOL.uri();
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new MeshSource(
                new Trust(
                        in.list(
                                "one-trust",
                                "FILE[,FILE]",
                                "Keys that may sign messages of the ONE mesh, besides those of the hub; repeatable.",
                                Trait.REPEATABLE),
                        in.list(
                                "one-trust-hosts",
                                "HOST[,HOST]",
                                "Hubs whose published keys may sign messages of their agents: host[:port], or an address; repeatable.",
                                Trait.REPEATABLE),
                        in.flag("one-require-signatures", "Refuse messages of the ONE mesh without a signature.")),
                handlers);
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(MessageAnswers.TABLES);
    }

    @Override
    public HubExtension open(HubParts hub) {
        var trusted = new ArrayList<String>();
        for (String file : trust.keys()) {
            try {
                trusted.add(Files.readString(Path.of(file)));
            } catch (IOException unreadable) {
                throw new UncheckedIOException("one-trust: cannot read " + file, unreadable);
            }
        }
        return new Mesh(hub, new Trust(List.copyOf(trusted), trust.hubs(), trust.isRequired()), handlers);
    }
}
