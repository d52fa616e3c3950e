/** Remote agents behind a hub, as an extension of the hub. */
module dev.parley.gateway {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires dev.parley.client;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.outbound;
    requires dev.parley.protocol;
    requires dev.parley.registry;
    requires dev.parley.store;
    requires dev.parley.trust;
    requires java.sql;

    exports dev.parley.gateway.hub;

    provides dev.parley.extension.HubExtensionSource with
            dev.parley.gateway.hub.GatewaySource;
    provides dev.parley.command.CommandSource with
            dev.parley.gateway.command.GatewayCommands;
}
