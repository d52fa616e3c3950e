/** Authentication, authorization and limits of callers; keys of card signatures. */
module dev.parley.trust {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.protocol;
    requires transitive dev.parley.store;
    requires dev.parley.outbound;
    requires com.nimbusds.jose.jwt;

    exports dev.parley.trust;
    exports dev.parley.trust.cards;
    exports dev.parley.trust.shared;
}
