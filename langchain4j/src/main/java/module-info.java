/** Services of LangChain4j as agents, and agents as tools of such services. */
module dev.parley.langchain4j {
    requires static transitive org.jspecify;
    requires dev.parley.agenttools;
    requires transitive dev.parley.client;
    requires dev.parley.dialect;
    requires transitive dev.parley.engine;
    requires transitive dev.parley.protocol;
    requires transitive langchain4j;
    requires transitive langchain4j.core;

    exports dev.parley.langchain4j;
}
