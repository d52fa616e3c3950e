/** Tasks of all agents of a hub, their history, and a feed of changes. */
module dev.parley.activity {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.protocol;
    requires dev.parley.client;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.store;

    exports dev.parley.activity;

    provides dev.parley.command.CommandSource with
            dev.parley.activity.command.ActivityCommands;
    provides dev.parley.extension.HubExtensionSource with
            dev.parley.activity.hub.ActivitySource;
    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.activity.ActivityProtocol;
}
