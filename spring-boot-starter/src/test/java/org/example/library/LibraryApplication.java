package org.example.library;

import dev.parley.engine.Agent;
import dev.parley.spring.AgentBean;
import dev.parley.spring.BeanSkills;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Components that are agents, with and without proxies. */
@SpringBootApplication
public class LibraryApplication {
    /** Methods that were called through a proxy. */
    public static final List<String> CALLS = new CopyOnWriteArrayList<>();

    @Bean
    @AgentBean(description = "Adds one")
    Adder one() {
        return new Adder(1);
    }

    @Bean
    @AgentBean(name = "more", description = "Adds ten")
    Adder ten() {
        return new Adder(10);
    }

    @Bean
    Adder hundred() {
        return new Adder(100);
    }

    @Bean
    Agent limited(Adder hundred) {
        return BeanSkills.of(Agent.named("limited", "One at a time").concurrency(1), hundred);
    }

    @Bean
    static BeanNameAutoProxyCreator classProxies() {
        return proxies(true, "librarian", "one", "hundred");
    }

    @Bean
    static BeanNameAutoProxyCreator interfaceProxies() {
        return proxies(false, "porter");
    }

    @Bean
    static MethodInterceptor recorder() {
        return call -> {
            CALLS.add(call.getMethod().getName());
            return call.proceed();
        };
    }

    private static BeanNameAutoProxyCreator proxies(boolean ofClass, String... beans) {
        var creator = new BeanNameAutoProxyCreator();
        creator.setBeanNames(beans);
        creator.setInterceptorNames("recorder");
        creator.setProxyTargetClass(ofClass);
        return creator;
    }
}
