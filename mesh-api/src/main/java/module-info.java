/** Messages of the ONE mesh. */
module dev.parley.mesh {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.protocol;

    exports dev.parley.mesh;

    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.mesh.MeshProtocol;
}
