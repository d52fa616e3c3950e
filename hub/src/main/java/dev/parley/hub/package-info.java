/**
 * Engine, store and server wired into one process: what agent authors depend on.
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *     Parley.serve(8080, Agent.named("hello", "Greets its callers")
 *             .skill("greet", "Says hello in the caller's words", "greeting")
 *             .handle((request, reply) -> reply.complete("Hello, " + request.text())));
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.hub;

import org.jspecify.annotations.NullMarked;
