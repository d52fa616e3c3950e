package dev.parley.mesh.hub;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.mesh.MeshProtocol;

/** Adds the mesh to hubs. */
public final class MeshSource implements HubExtensionSource {
    @Override
    public String uri() {
        return MeshProtocol.PROTOCOL.uri();
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new Mesh(hub);
    }
}
