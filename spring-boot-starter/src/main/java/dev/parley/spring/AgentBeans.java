package dev.parley.spring;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Agent;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/** The agents of an application: beans of the type {@link Agent}, and then those with {@link AgentBean}, both in their order. */
record AgentBeans(ApplicationContext beans) {
    private record Skilled(String name, Object bean) {}

    /** @throws IllegalArgumentException if an agent cannot be hosted, with the name of its bean */
    List<Agent> agents() {
        var agents = new ArrayList<>(
                beans.getBeanProvider(Agent.class).orderedStream().toList());
        Arrays.stream(BeanFactoryUtils.beanNamesForAnnotationIncludingAncestors(beans, AgentBean.class))
                .filter(name -> !ScopedProxyUtils.isScopedTarget(name))
                .map(this::skilled)
                .sorted((one, other) -> AnnotationAwareOrderComparator.INSTANCE.compare(one.bean(), other.bean()))
                .map(this::agent)
                .forEach(agents::add);
        return agents;
    }

    private Skilled skilled(String name) {
        if (!beans.isSingleton(name)) {
            throw new IllegalArgumentException(
                    "agent of bean \"" + name + "\": not a singleton (expected: one, or the proxy of a scope)");
        }
        return new Skilled(name, beans.getBean(name));
    }

    /** The annotation of the method that makes the bean, else that of its class. */
    private AgentBean described(String name) {
        if (beans.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory definitions
                && definitions.containsBeanDefinition(name)
                && definitions.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition) {
            Method method = definition.getResolvedFactoryMethod();
            AgentBean own = method == null ? null : method.getAnnotation(AgentBean.class);
            if (own != null) {
                return own;
            }
        }
        return requireNonNull(beans.findAnnotationOnBean(name, AgentBean.class));
    }

    private Agent agent(Skilled skilled) {
        AgentBean described = described(skilled.name());
        try {
            Agent.Builder agent = Agent.named(
                    described.name().isEmpty() ? skilled.name() : described.name(), described.description());
            if (!described.version().isEmpty()) {
                agent.version(described.version());
            }
            return BeanSkills.of(agent, skilled.bean());
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "agent of bean \"" + skilled.name() + "\": " + wrong.getMessage(), wrong);
        }
    }
}
