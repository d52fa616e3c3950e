package dev.parley.cli.host;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import dev.parley.store.spi.InUseException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The process of {@code parley run FILE.java}: compiles a source file in memory, with those that it refers to in its directory, and calls its main
 * method, as Java's source launcher does. That one drops the names of parameters, which methods with {@code @Skill} need.
 */
final class SourceProgram {
    private static final List<String> OPTIONS =
            List.of("-parameters", "-proc:none", "-Xdiags:verbose", "-Xlint:deprecation", "-Xlint:-options");

    private SourceProgram() {}

    /** @param arguments the file, and the arguments of its main method */
    public static void main(String[] arguments) throws Exception {
        Class<?> program = compiled(Path.of(arguments[0]).toAbsolutePath());
        if (program == null) {
            System.err.println("error: compilation failed");
            System.exit(1);
            return;
        }
        Thread.currentThread().setContextClassLoader(program.getClassLoader());
        Method main = main(program);
        if (main == null) {
            System.err.println(
                    "error: class \"" + program.getName() + "\": no main method (expected: void main(String[]))");
            System.exit(1);
            return;
        }
        try {
            call(main, program, Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException thrown) {
            Throwable cause = requireNonNullElse(thrown.getCause(), thrown);
            if (cause instanceof InUseException) {
                System.err.println("error: " + cause.getMessage());
            } else {
                cause.printStackTrace();
            }
            System.exit(1);
        }
    }

    /** The first class of a file; null if the file cannot be compiled, which the compiler then has said. */
    private static @Nullable Class<?> compiled(Path file) throws IOException, ClassNotFoundException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            System.err.println("error: no compiler (expected: a JDK, not a JRE)");
            return null;
        }
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, UTF_8);
                var memory = new Memory(files)) {
            Iterable<? extends JavaFileObject> sources = files.getJavaFileObjects(file);
            // The compilation below reports syntax errors.
            var parser = (JavacTask) compiler.getTask(null, memory, fault -> {}, OPTIONS, null, sources);
            CompilationUnitTree unit = parser.parse().iterator().next();
            String place = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
            Path root = requireNonNull(file.toAbsolutePath().getParent(), "a file is in a directory");
            for (long i = place.chars().filter(each -> each == '.').count(); i > 0 && root.getParent() != null; i--) {
                root = root.getParent();
            }
            files.setLocationFromPaths(StandardLocation.SOURCE_PATH, List.of(root));
            if (!compiler.getTask(null, memory, null, OPTIONS, null, sources).call()) {
                return null;
            }
            for (Tree declared : unit.getTypeDecls()) {
                if (declared instanceof ClassTree first) {
                    return memory.loader().loadClass(place + first.getSimpleName());
                }
            }
            System.err.println("error: no class in " + file);
            return null;
        }
    }

    /** The main method, with arguments or without; null if there is none. */
    private static @Nullable Method main(Class<?> program) {
        for (Class<?>[] parameters : new Class<?>[][] {{String[].class}, {}}) {
            for (Class<?> type = program; type != null; type = type.getSuperclass()) {
                try {
                    Method main = type.getDeclaredMethod("main", parameters);
                    if (!Modifier.isPrivate(main.getModifiers()) && main.trySetAccessible()) {
                        return main;
                    }
                } catch (NoSuchMethodException none) {
                    // its superclass may have one
                }
            }
        }
        return null;
    }

    private static void call(Method main, Class<?> program, String[] arguments) throws ReflectiveOperationException {
        Object object = null;
        if (!Modifier.isStatic(main.getModifiers())) {
            Constructor<?> constructor = program.getDeclaredConstructor();
            constructor.setAccessible(true);
            object = constructor.newInstance();
        }
        if (main.getParameterCount() == 0) {
            main.invoke(object);
        } else {
            main.invoke(object, (Object) arguments);
        }
    }

    /** Keeps the classes that a compiler writes. */
    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes = new ConcurrentHashMap<>();

        Memory(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, @Nullable FileObject sibling) {
            return new SimpleJavaFileObject(
                    URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    var bytes = new ByteArrayOutputStream();
                    classes.put(className, bytes);
                    return bytes;
                }
            };
        }

        ClassLoader loader() {
            return new ClassLoader(SourceProgram.class.getClassLoader()) {
                @Override
                protected Class<?> findClass(String name) throws ClassNotFoundException {
                    ByteArrayOutputStream bytes = classes.get(name);
                    if (bytes == null) {
                        throw new ClassNotFoundException(name);
                    }
                    return defineClass(name, bytes.toByteArray(), 0, bytes.size());
                }
            };
        }
    }
}
