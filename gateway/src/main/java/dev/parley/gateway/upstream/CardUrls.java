package dev.parley.gateway.upstream;

import dev.parley.outbound.CardPlaces;
import java.net.URI;
import java.util.Set;

/** Addresses of cards, and addresses in cards. */
final class CardUrls {
    private CardUrls() {}

    static Set<URI> of(String url) {
        return CardPlaces.of(URI.create(url)).places();
    }

    /** Returns an address of a card, with or without a scheme, at another origin. */
    static String atOrigin(URI origin, String url) {
        int scheme = url.indexOf("://");
        int path = url.indexOf('/', scheme < 0 ? 0 : scheme + 3);
        String rest = path < 0 ? "" : url.substring(path);
        String authority = origin.getRawAuthority();
        return scheme < 0 ? authority + rest : origin.getScheme() + "://" + authority + rest;
    }
}
