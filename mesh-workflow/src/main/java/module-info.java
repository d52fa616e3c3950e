/** Workflows of the ONE mesh. */
module dev.parley.mesh.workflow {
    requires static transitive org.jspecify;
    requires transitive dev.parley.mesh;
    requires dev.parley.dialect;
    requires dev.parley.protocol;

    exports dev.parley.mesh.workflow;
}
