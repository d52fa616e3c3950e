package dev.parley.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Call of a {@link Skill} method, on an object that its author knows; see {@link Agent.Builder#skills(Class, SkillCall)}. */
@FunctionalInterface
public interface SkillCall {
    /**
     * Returns the result of the method; null if it has none. Called by the threads of runs, several at once.
     *
     * @param method of the class that declares the skills
     * @param arguments as the method takes them
     * @throws InvocationTargetException with the exception that the method has thrown
     * @throws Exception any other one, which fails the task as well
     */
    @Nullable
    Object call(Method method, @Nullable Object[] arguments) throws Exception;
}
