package dev.parley.spring;

import dev.parley.engine.Skill;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.stereotype.Component;

/**
 * A component that is an agent of the application: its methods with {@link Skill} are the skills of the agent. Also for methods with
 * {@code @Bean}, for classes that the application does not own, or of which it has several agents.
 *
 * <pre>{@code
 * @AgentBean(name = "librarian", description = "Finds and lends books")
 * class Librarian {
 *     @Skill(description = "Lends the book that is named")
 *     String lend(String title) {
 *         return title + " is yours for four weeks";
 *     }
 * }
 * }</pre>
 *
 * <p>Calls go through the proxy of the bean, if it has one. Limits and other properties of agents are set by a bean of the type {@code
 * Agent} instead, whose skills {@link BeanSkills} reads from another bean.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Component
public @interface AgentBean {
    /** Name of the agent, a segment of its address; default: the name of the bean. */
    String name() default "";

    /** Description of the agent on its card. */
    String description();

    /** Version of the agent on its card; default: that of every agent without one. */
    String version() default "";
}
