/** Client of the ONE mesh. */
module dev.parley.mesh.client {
    requires static transitive org.jspecify;
    requires transitive dev.parley.client;
    requires transitive dev.parley.mesh;
    requires dev.parley.trust;
    requires dev.parley.protocol;
}
