/** Workflows of the ONE mesh. */
module dev.parley.mesh.workflow {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.mesh;
    requires transitive dev.parley.protocol;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.client;
    requires dev.parley.engine;
    requires dev.parley.store;
    requires tools.jackson.core;
    requires tools.jackson.dataformat.yaml;

    exports dev.parley.mesh.workflow;

    provides dev.parley.command.CommandSource with
            dev.parley.mesh.workflow.command.WorkflowCommands;
    provides dev.parley.extension.HubExtensionSource with
            dev.parley.mesh.workflow.WorkflowSource;
    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.mesh.workflow.WorkflowProtocol;
}
