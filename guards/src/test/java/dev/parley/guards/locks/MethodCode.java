package dev.parley.guards.locks;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Label;

/**
 * A method of a class file.
 *
 * @param isSynchronized whether it holds the monitor of its object from its first step to the last
 * @param lines line of the source for each step
 */
record MethodCode(Id id, boolean isSynchronized, List<Step> steps, List<Integer> lines, List<Handler> handlers) {

    /** Methods are equal if their names are: their steps are many. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MethodCode method && id.equals(method.id);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    /** Name of a method, as class files have it. */
    record Id(String owner, String name, String descriptor) {
        /** The class and method of the source; that of a lambda is the method that it stands in. */
        String source() {
            String method = name;
            if (name.startsWith("lambda$")) {
                method = name.substring("lambda$".length(), name.lastIndexOf('$'));
            }
            return owner.replace('/', '.') + "#" + method;
        }

        String outermostClass() {
            int nested = owner.indexOf('$');
            return nested < 0 ? owner : owner.substring(0, nested);
        }
    }

    /** Steps from {@code start} to {@code end}, without it, whose exceptions go on at {@code target}. */
    record Handler(Label start, Label end, Label target, boolean isForAll) {}

    /** An instruction, as far as locks and calls are concerned. */
    sealed interface Step {
        /** A call of a method. */
        record Call(Id target, boolean isExact) implements Step {}

        /**
         * Makes an object of a functional interface.
         *
         * @param type name of the interface
         * @param method its method
         * @param body called by it
         */
        record Lambda(String type, String method, Id body) implements Step {}

        record Enter() implements Step {}

        record Exit() implements Step {}

        record Read(String owner, String field) implements Step {}

        record Write(String owner, String field) implements Step {}

        /** @param ifTrue whether it jumps for true; null if it does not look at a boolean */
        record Jump(
                List<Label> targets,
                boolean mayPass,
                @Nullable Boolean ifTrue) implements Step {}

        record End() implements Step {}

        record Place(Label label) implements Step {}

        record Other() implements Step {}
    }
}
