/** A knowledge graph that agents share. */
module dev.parley.knowledge {
    requires static transitive org.jspecify;
    requires transitive dev.parley.knowledge.api;
    requires transitive dev.parley.protocol;
    requires dev.parley.dialect;
    requires dev.parley.outbound;
    requires dev.parley.store;
    requires com.github.benmanes.caffeine;
    requires com.graphqljava;
    requires de.siegmar.fastcsv;
    requires transitive java.net.http;
    requires java.sql;
    requires org.apache.jena.arq;
    requires org.apache.jena.core;
    requires org.apache.jena.shacl;
    requires re2j;
    requires titanium.json.ld;

    exports dev.parley.knowledge;
    exports dev.parley.knowledge.model;
    exports dev.parley.knowledge.rdf;
}
