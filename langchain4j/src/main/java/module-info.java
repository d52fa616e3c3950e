/** Services of LangChain4j as agents. */
module dev.parley.langchain4j {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires transitive langchain4j;
    requires transitive langchain4j.core;

    exports dev.parley.langchain4j;
}
