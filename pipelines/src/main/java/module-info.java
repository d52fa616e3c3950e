/** Pipelines of agents that do useful work without a model. */
module dev.parley.pipelines {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires dev.parley.client;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.hub;
    requires dev.parley.mcp;
    requires dev.parley.mesh.workflow;
    requires dev.parley.protocol;
    requires de.siegmar.fastcsv;
    requires info.picocli;
    requires java.desktop;
    requires langchain4j.core;
    requires langchain4j.open.ai;
    requires java.sql;
    requires org.apache.pdfbox;
    requires org.jsoup;
    requires xchart;
    requires re2j;

    exports dev.parley.pipelines;

    opens dev.parley.pipelines to
            info.picocli;

    provides dev.parley.command.CommandSource with
            dev.parley.pipelines.DemoCommands;
    provides dev.parley.engine.AgentSource with
            dev.parley.pipelines.Pipelines;
}
