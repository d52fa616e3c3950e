package dev.parley.spring.test;

import dev.parley.engine.Agent;
import dev.parley.engine.Skill;
import dev.parley.spring.AgentBean;
import dev.parley.spring.HubCustomizer;
import java.io.IOException;
import java.util.Set;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Leaves out components that are not part of a {@link ParleyTest}. */
final class ParleyTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<ParleyTest> {
    /** The only components with agents; empty for all. */
    private final Set<Class<?>> components;

    ParleyTypeExcludeFilter(Class<?> test) {
        super(test);
        components = Set.of(getAnnotation().getClassArray("value"));
    }

    @Override
    protected Set<Class<?>> getKnownIncludes() {
        return components.isEmpty() ? Set.of(AgentBean.class, HubCustomizer.class) : Set.of(HubCustomizer.class);
    }

    @Override
    protected Set<Class<?>> getComponentIncludes() {
        return components;
    }

    @Override
    protected boolean defaultInclude(MetadataReader type, MetadataReaderFactory types) throws IOException {
        return super.defaultInclude(type, types) || components.isEmpty() && hasAgents(type.getAnnotationMetadata());
    }

    private static boolean hasAgents(AnnotationMetadata type) {
        return type.hasAnnotatedMethods(Skill.class.getName())
                || type.getAnnotatedMethods(Bean.class.getName()).stream()
                        .anyMatch(bean -> bean.getReturnTypeName().equals(Agent.class.getName())
                                || bean.isAnnotated(AgentBean.class.getName()));
    }
}
