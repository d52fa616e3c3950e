package dev.parley.engine;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that is a skill of an agent; see {@link Agent.Builder#skills}.
 *
 * <p>Parameters of types {@link Request} and {@link Reply} get those of the call. If one parameter is left and it is a
 * {@code String}, it gets the text of the message. Otherwise each of the others gets the member of its name from the data
 * part of the message, of which there must be exactly one; this needs classes compiled with {@code -parameters}. Their types
 * are {@code String}, {@code int}, {@code long}, {@code double}, {@code boolean}, {@code Object}, lists of these, and {@code
 * Map<String, Object>}. A message that does not fit is rejected with the parameter, its value and the expected type.
 *
 * <p>A returned {@code String}, {@code Part}, {@code List<Part>} or {@code Map} (as a data part) completes the task. So does
 * the return of a {@code void} method without a {@link Reply}; with one, the method ends the task as an {@link AgentHandler}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Skill {
    /** Id of the skill on the card; default: the name of the method. */
    String id() default "";

    /** Name of the skill on the card; default: its id. */
    String name() default "";

    /** Description of the skill on the card. */
    String description();

    /** Tags of the skill on the card. */
    String[] tags() default {};
}
