/** Who calls, and what they have to show. */
module dev.parley.trust {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.protocol;
    requires com.nimbusds.jose.jwt;

    exports dev.parley.trust;
}
