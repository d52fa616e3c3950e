/**
 * Tests of the agents of an application of Spring Boot, without the rest of it. Needs {@code spring-boot-starter-test}.
 *
 * <pre>{@code
 * @ParleyTest
 * class LibrarianTest {
 *     @Test
 *     void lends(@Autowired AgentClients agents) {
 *         Task lent = (Task) agents.client("librarian").send("Emma");
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.spring.test;

import org.jspecify.annotations.NullMarked;
