/** Client of a registry. */
module dev.parley.registry.client {
    requires static transitive org.jspecify;
    requires transitive dev.parley.client;
    requires transitive dev.parley.registry;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.protocol;

    exports dev.parley.registry.client;

    provides dev.parley.command.CommandSource with
            dev.parley.registry.client.command.RegistryCommands;
}
