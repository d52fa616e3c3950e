/** Pipelines of agents that do useful work without a model. */
module dev.parley.pipelines {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires dev.parley.client;
    requires dev.parley.dialect;
    requires dev.parley.protocol;
    requires de.siegmar.fastcsv;
    requires java.desktop;
    requires java.sql;
    requires org.apache.pdfbox;
    requires org.jsoup;
    requires xchart;
    requires re2j;

    exports dev.parley.pipelines;
}
