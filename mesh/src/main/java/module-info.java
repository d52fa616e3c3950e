/** The ONE mesh as an extension of a hub. */
module dev.parley.mesh.hub {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.mesh;
    requires dev.parley.dialect;
    requires dev.parley.protocol;
}
