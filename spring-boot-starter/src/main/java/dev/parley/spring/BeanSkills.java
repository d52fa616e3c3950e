package dev.parley.spring;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Agent;
import dev.parley.engine.Skill;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/** Skills of an agent that are methods of a bean, which may be a proxy. */
public final class BeanSkills {
    private BeanSkills() {}

    /**
     * Ends the description of an agent: it calls the {@link Skill} methods that the class of {@code bean} declares, as {@link
     * Agent.Builder#skills(Object)}, through the proxy if the bean has one.
     *
     * @throws IllegalArgumentException if there is no such method, or one that cannot be called for a message, or not through the proxy
     */
    public static Agent of(Agent.Builder described, Object bean) {
        Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
        MetadataLookup<Skill> skills = method -> AnnotationUtils.findAnnotation(method, Skill.class);
        var callable = new HashMap<Method, Method>();
        for (Method method : MethodIntrospector.selectMethods(type, skills).keySet()) {
            if (!method.getDeclaringClass().equals(type) || !method.isAnnotationPresent(Skill.class)) {
                throw unusable(
                        method, "inherited (expected: a method with @Skill that " + type.getName() + " declares)");
            }
            callable.put(method, callable(method, bean));
        }
        return described.skills(
                type,
                (method, arguments) -> requireNonNull(callable.get(method)).invoke(bean, arguments));
    }

    /** The method of a bean, or of the interface by which its proxy has it. */
    private static Method callable(Method method, Object bean) {
        if (!AopUtils.isAopProxy(bean)) {
            return accessible(method, "a class and method that Spring may call");
        }
        // A proxy that extends the class has no fields of its own, and runs these methods on itself.
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isFinal(method.getModifiers())) {
            throw unusable(method, "private or final (expected: neither, because the bean is a proxy)");
        }
        try {
            return accessible(AopUtils.selectInvocableMethod(method, bean.getClass()), "a public interface");
        } catch (IllegalStateException absent) {
            throw unusable(
                    method,
                    "not in an interface of the bean, which is a proxy of its interfaces"
                            + " (expected: a method of one, or spring.aop.proxy-target-class=true)");
        }
    }

    private static Method accessible(Method method, String expected) {
        if (!method.trySetAccessible()) {
            throw unusable(method, "not accessible (expected: " + expected + ")");
        }
        return method;
    }

    private static IllegalArgumentException unusable(Method method, String problem) {
        return new IllegalArgumentException(
                "skill method " + method.getDeclaringClass().getName() + "." + method.getName() + ": " + problem);
    }
}
