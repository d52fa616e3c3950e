/** Chat clients of Spring AI as agents, and agents as tools of such clients. */
module dev.parley.spring.ai {
    requires static transitive org.jspecify;
    requires dev.parley.agenttools;
    requires transitive dev.parley.client;
    requires dev.parley.dialect;
    requires transitive dev.parley.engine;
    requires reactor.core;
    requires transitive spring.ai.client.chat;
    requires transitive spring.ai.model;

    exports dev.parley.spring.ai;
}
