package dev.parley.mesh.hub;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.mesh.MeshProtocol;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec.Trait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Adds the mesh to hubs. */
public final class MeshSource implements HubExtensionSource {
    private final List<String> trustedFiles;

    /** For the service loader. */
    public MeshSource() {
        this(List.of());
    }

    private MeshSource(List<String> trustedFiles) {
        this.trustedFiles = trustedFiles;
    }

    @Override
    public String uri() {
        return MeshProtocol.PROTOCOL.uri();
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new MeshSource(in.list(
                "one-trust",
                "FILE[,FILE]",
                "Keys that may sign messages of the ONE mesh, besides those of the hub; repeatable.",
                Trait.REPEATABLE));
    }

    @Override
    public HubExtension open(HubParts hub) {
        var trusted = new ArrayList<String>();
        for (String file : trustedFiles) {
            try {
                trusted.add(Files.readString(Path.of(file)));
            } catch (IOException unreadable) {
                throw new UncheckedIOException("one-trust: cannot read " + file, unreadable);
            }
        }
        return new Mesh(hub, trusted);
    }
}
