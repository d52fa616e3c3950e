package dev.parley.guards.locks;

import dev.parley.guards.locks.MethodCode.Handler;
import dev.parley.guards.locks.MethodCode.Id;
import dev.parley.guards.locks.MethodCode.Step;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** The methods of some class files, and which of them a call may reach. */
final class Program {
    private static final String METAFACTORY = "java/lang/invoke/LambdaMetafactory";
    private static final Handle NONE = new Handle(Opcodes.H_INVOKESTATIC, "", "", "()V", false);

    private final Map<Id, MethodCode> methods = new LinkedHashMap<>();
    private final Map<Step.Call, Set<MethodCode>> targets = new HashMap<>();
    private final Map<String, Set<String>> parents = new HashMap<>();
    private final Map<String, Set<String>> children = new HashMap<>();
    private final Map<String, Set<Id>> lambdas = new HashMap<>();
    private final Set<String> concurrentMaps = new HashSet<>();

    static Program read(Collection<URI> classes) {
        var program = new Program();
        for (URI each : new TreeSet<>(classes)) { // so that of equal ways the same is found each time
            try (InputStream in = each.toURL().openStream()) {
                new ClassReader(in).accept(program.new Reader(), ClassReader.SKIP_FRAMES);
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }
        return program;
    }

    Collection<MethodCode> methods() {
        return methods.values();
    }

    boolean has(String type) {
        return parents.containsKey(type);
    }

    /** Whether a field is made a {@code ConcurrentHashMap} by its class. */
    boolean isConcurrentMap(String owner, String field) {
        return concurrentMaps.contains(owner + "." + field);
    }

    /** Methods that a call may reach, as far as they are here. */
    Set<MethodCode> targets(Step.Call call) {
        return targets.computeIfAbsent(call, this::found);
    }

    private Set<MethodCode> found(Step.Call call) {
        var targets = new LinkedHashSet<MethodCode>();
        Id id = call.target();
        MethodCode own = inherited(id.owner(), id, new HashSet<>());
        if (own != null) {
            targets.add(own);
        }
        if (!call.isExact() && has(id.owner())) {
            addOverrides(id.owner(), id, targets, new HashSet<>());
            lambdas.getOrDefault(id.owner() + "." + id.name(), Set.of()).forEach(body -> addBody(body, targets));
        }
        return targets;
    }

    /** The method that a lambda consists of, or that a method reference names. */
    Set<MethodCode> body(Step.Lambda lambda) {
        var bodies = new LinkedHashSet<MethodCode>();
        addBody(lambda.body(), bodies);
        return bodies;
    }

    private void addBody(Id body, Set<MethodCode> targets) {
        MethodCode own = inherited(body.owner(), body, new HashSet<>());
        if (own != null) {
            targets.add(own);
        }
        if (has(body.owner())) {
            addOverrides(body.owner(), body, targets, new HashSet<>());
        }
    }

    private @Nullable MethodCode inherited(String type, Id id, Set<String> seen) {
        MethodCode own = methods.get(new Id(type, id.name(), id.descriptor()));
        if (own != null) {
            return own;
        }
        for (String parent : parents.getOrDefault(type, Set.of())) {
            MethodCode found = seen.add(parent) ? inherited(parent, id, seen) : null;
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private void addOverrides(String type, Id id, Set<MethodCode> targets, Set<String> seen) {
        for (String child : children.getOrDefault(type, Set.of())) {
            if (seen.add(child)) {
                MethodCode own = methods.get(new Id(child, id.name(), id.descriptor()));
                if (own != null) {
                    targets.add(own);
                }
                addOverrides(child, id, targets, seen);
            }
        }
    }

    private final class Reader extends ClassVisitor {
        private String type = "";

        Reader() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(
                int version,
                int access,
                String name,
                @Nullable String signature,
                @Nullable String parent,
                String @Nullable [] interfaces) {
            type = name;
            var above = new LinkedHashSet<String>();
            if (parent != null) {
                above.add(parent);
            }
            if (interfaces != null) {
                above.addAll(List.of(interfaces));
            }
            parents.put(name, above);
            above.forEach(each ->
                    children.computeIfAbsent(each, any -> new LinkedHashSet<>()).add(name));
        }

        @Override
        public MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            return new Code(new Id(type, name, descriptor), (access & Opcodes.ACC_SYNCHRONIZED) != 0);
        }
    }

    private final class Code extends MethodVisitor {
        private final Id id;
        private final boolean isSynchronized;
        private final List<Step> steps = new ArrayList<>();
        private final List<Integer> lines = new ArrayList<>();
        private final List<Handler> handlers = new ArrayList<>();
        private int line;
        private String made = "";

        Code(Id id, boolean isSynchronized) {
            super(Opcodes.ASM9);
            this.id = id;
            this.isSynchronized = isSynchronized;
        }

        private void add(Step step) {
            steps.add(step);
            lines.add(line);
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
        }

        @Override
        public void visitLabel(Label label) {
            add(new Step.Place(label));
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
            handlers.add(new Handler(start, end, handler, type == null));
        }

        @Override
        public void visitInsn(int opcode) {
            add(
                    switch (opcode) {
                        case Opcodes.MONITORENTER -> new Step.Enter();
                        case Opcodes.MONITOREXIT -> new Step.Exit();
                        case Opcodes.IRETURN,
                                Opcodes.LRETURN,
                                Opcodes.FRETURN,
                                Opcodes.DRETURN,
                                Opcodes.ARETURN,
                                Opcodes.RETURN,
                                Opcodes.ATHROW -> new Step.End();
                        default -> new Step.Other();
                    });
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            Boolean ifTrue = opcode == Opcodes.IFNE ? Boolean.TRUE : opcode == Opcodes.IFEQ ? Boolean.FALSE : null;
            add(new Step.Jump(List.of(label), opcode != Opcodes.GOTO, ifTrue));
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
            visitLookupSwitchInsn(otherwise, new int[0], labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
            var targets = new ArrayList<>(List.of(labels));
            targets.add(otherwise);
            add(new Step.Jump(targets, false, null));
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            boolean isRead = opcode == Opcodes.GETFIELD || opcode == Opcodes.GETSTATIC;
            if (!isRead && made.equals("java/util/concurrent/ConcurrentHashMap")) {
                concurrentMaps.add(owner + "." + name);
            }
            made = "";
            add(isRead ? new Step.Read(owner, name) : new Step.Write(owner, name));
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            made = name.equals("<init>") ? owner : "";
            add(new Step.Call(
                    new Id(owner, name, descriptor),
                    opcode == Opcodes.INVOKESTATIC || opcode == Opcodes.INVOKESPECIAL));
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            Handle body = NONE;
            for (Object argument : arguments) {
                if (bootstrap.getOwner().equals(METAFACTORY) && argument instanceof Handle handle) {
                    body = handle;
                }
            }
            if (body.equals(NONE)) {
                add(new Step.Other());
                return;
            }
            String type = Type.getReturnType(descriptor).getInternalName();
            var target = new Id(body.getOwner(), body.getName(), body.getDesc());
            lambdas.computeIfAbsent(type + "." + name, any -> new LinkedHashSet<>())
                    .add(target);
            add(new Step.Lambda(type, name, target));
        }

        @Override
        public void visitEnd() {
            methods.put(id, new MethodCode(id, isSynchronized, steps, lines, handlers));
        }
    }
}
