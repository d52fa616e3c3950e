/**
 * Auto-configuration of Spring Boot 4: agents that are beans are hosted by a hub in the application.
 *
 * <pre>{@code
 * @Bean
 * Agent hello() {
 *     return Agent.named("hello", "Greets its caller")
 *             .handle((request, reply) -> reply.complete("Hello, " + request.text()));
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.spring;

import org.jspecify.annotations.NullMarked;
