/** Client of the ONE mesh. */
module dev.parley.mesh.client {
    requires static transitive org.jspecify;
    requires transitive dev.parley.client;
    requires transitive dev.parley.mesh;
    requires transitive dev.parley.trust;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.protocol;
    requires dev.parley.server;

    exports dev.parley.mesh.client;

    provides dev.parley.command.CommandSource with
            dev.parley.mesh.client.command.OneCommands;
}
