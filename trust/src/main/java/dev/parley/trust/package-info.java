/**
 * Authentication, authorization and limits of callers; keys that sign cards ({@link dev.parley.trust.cards.CardKeys}) and
 * verify them ({@link dev.parley.trust.cards.CardTrust}).
 *
 * <pre>{@code
 * Callers callers = Callers.builder()
 *         .apiKey("alice", System.getenv("ALICES_KEY"))
 *         .oauthClient("shop", "shop-client", System.getenv("SHOPS_SECRET"))
 *         .build();
 * Trust trust = Trust.builder(callers)
 *         .everywhere(Authentication.of(Scheme.API_KEY, Scheme.OAUTH2))
 *         .agent("public", Authentication.NONE)
 *         .hub(() -> "https://agents.example.com")
 *         .build();
 * CallContext caller = trust.caller("echo", request.headers());
 * }</pre>
 */
@NullMarked
package dev.parley.trust;

import org.jspecify.annotations.NullMarked;
