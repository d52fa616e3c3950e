package dev.parley.guards.locks;

import static java.util.Objects.requireNonNull;

import dev.parley.guards.locks.MethodCode.Id;
import dev.parley.guards.locks.MethodCode.Step;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Calls under locks that may wait for a disk, a network, a process or another thread. A lock is a monitor, a {@code Lock}, or the bin of
 * an entry that a {@code ConcurrentHashMap} computes.
 *
 * <p>A call of a method of an interface reaches all implementations. The body of a lambda is reached where the lambda is handed to a
 * collection, a stream or an {@code Optional}, and where it is handed to a method of the product that calls it. What executors, threads
 * and types of the JDK call is not reached.
 */
public final class LockedCalls {
    private static final Set<String> COMPUTE = Set.of("compute", "computeIfAbsent", "computeIfPresent", "merge");

    private final Program program;
    private final Map<Id, int[]> held = new HashMap<>();
    /** Lambdas that a step runs, by the place of the step. */
    private final Map<Id, Map<Integer, List<Run>>> runs = new HashMap<>();

    private final Map<Id, Set<MethodCode>> callers = new HashMap<>();

    /** A lambda that a call runs, and whether it runs under a lock of that call. */
    private record Run(Step.Lambda lambda, boolean isLocked) {}

    /** First step of a way to a blocking call; its method is null if it is that call itself. */
    private record Way(Id call, int line, @Nullable Id next) {}

    private LockedCalls(Program program) {
        this.program = program;
        program.methods().forEach(method -> held.put(method.id(), HeldLocks.of(method)));
        program.methods().forEach(method -> runs.put(method.id(), runs(method)));
        for (MethodCode method : program.methods()) {
            for (int i = 0; i < method.steps().size(); i++) {
                reached(method, i)
                        .forEach(target -> callers.computeIfAbsent(target.id(), any -> new LinkedHashSet<>())
                                .add(method));
            }
        }
    }

    public static LockedCalls in(Collection<URI> classes) {
        return new LockedCalls(Program.read(classes));
    }

    /**
     * Returns the ways from a lock to a blocking call, by the method that holds the lock.
     *
     * @param quick methods that never wait, although they make calls that may wait with other arguments
     */
    public Map<String, Set<String>> without(Set<String> quick) {
        var found = new TreeMap<String, Set<String>>();
        find(found, BlockingCalls::has, quick, false);
        find(found, BlockingCalls::isCondition, quick, true);
        return found;
    }

    /** @param isOwnAllowed whether a class may make such calls under its own lock */
    private void find(
            Map<String, Set<String>> found, Predicate<Id> isBlocking, Set<String> quick, boolean isOwnAllowed) {
        Map<Id, Way> ways = ways(isBlocking, quick);
        for (MethodCode method : program.methods()) {
            for (int i = 0; i < method.steps().size(); i++) {
                var begins = new LinkedHashSet<Way>();
                int line = method.lines().get(i);
                boolean isHeld = locks(method)[i] > 0;
                if (isHeld && method.steps().get(i) instanceof Step.Call(Id target, boolean isExact)) {
                    if (isBlocking.test(target)) {
                        begins.add(new Way(target, line, null));
                    }
                }
                Set<MethodCode> targets = isHeld ? reached(method, i) : lockedBodies(method, i);
                for (MethodCode target : targets) {
                    if (ways.containsKey(target.id())) {
                        begins.add(new Way(target.id(), line, target.id()));
                    }
                }
                for (Way begin : begins) {
                    List<String> steps = new ArrayList<>();
                    Id end = describe(begin, method.id(), ways, steps);
                    if (!isOwnAllowed
                            || !end.outermostClass().equals(method.id().outermostClass())) {
                        found.computeIfAbsent(method.id().source(), any -> new LinkedHashSet<>())
                                .add(String.join(" > ", steps));
                    }
                }
            }
        }
    }

    /** Adds the steps of a way; returns the method that makes the blocking call. */
    private static Id describe(Way begin, Id from, Map<Id, Way> ways, List<String> steps) {
        Id at = from;
        for (Way way = begin; ; way = requireNonNull(ways.get(at))) {
            steps.add(at.source().substring(at.source().lastIndexOf('.') + 1) + ":" + way.line());
            if (way.next() == null) {
                steps.add(way.call().source());
                return at;
            }
            at = way.next();
        }
    }

    /** The shortest way to a blocking call for each method that reaches one. */
    private Map<Id, Way> ways(Predicate<Id> isBlocking, Set<String> quick) {
        var ways = new LinkedHashMap<Id, Way>();
        Deque<MethodCode> next = new ArrayDeque<>();
        for (MethodCode method : program.methods()) {
            boolean mayWait = !quick.contains(method.id().source());
            for (int i = 0; i < method.steps().size() && mayWait && !ways.containsKey(method.id()); i++) {
                if (method.steps().get(i) instanceof Step.Call(Id target, boolean isExact) && isBlocking.test(target)) {
                    ways.put(method.id(), new Way(target, method.lines().get(i), null));
                    next.add(method);
                }
            }
        }
        while (!next.isEmpty()) {
            MethodCode target = next.remove();
            for (MethodCode caller : callers.getOrDefault(target.id(), Set.of())) {
                if (!ways.containsKey(caller.id())
                        && !quick.contains(caller.id().source())) {
                    ways.put(caller.id(), new Way(target.id(), line(caller, target), target.id()));
                    next.add(caller);
                }
            }
        }
        return ways;
    }

    private int line(MethodCode caller, MethodCode target) {
        for (int i = 0; i < caller.steps().size(); i++) {
            if (reached(caller, i).contains(target)) {
                return caller.lines().get(i);
            }
        }
        return 0;
    }

    private int[] locks(MethodCode method) {
        return held.getOrDefault(method.id(), new int[0]);
    }

    /** Methods that a step calls, and bodies of lambdas that it runs. */
    private Set<MethodCode> reached(MethodCode method, int at) {
        if (!(method.steps().get(at) instanceof Step.Call call)) {
            return Set.of();
        }
        var reached = new LinkedHashSet<>(program.targets(call));
        runsAt(method, at).forEach(run -> reached.addAll(program.body(run.lambda())));
        return reached;
    }

    private Set<MethodCode> lockedBodies(MethodCode method, int at) {
        var bodies = new LinkedHashSet<MethodCode>();
        runsAt(method, at).stream().filter(Run::isLocked).forEach(run -> bodies.addAll(program.body(run.lambda())));
        return bodies;
    }

    private List<Run> runsAt(MethodCode method, int at) {
        return runs.getOrDefault(method.id(), Map.of()).getOrDefault(at, List.of());
    }

    /** Pairs each lambda with the first call after it that takes one of its type. */
    private Map<Integer, List<Run>> runs(MethodCode method) {
        var paired = new HashMap<Integer, List<Run>>();
        for (int i = 0; i < method.steps().size(); i++) {
            if (method.steps().get(i) instanceof Step.Lambda lambda) {
                for (int j = i + 1; j < method.steps().size(); j++) {
                    if (method.steps().get(j) instanceof Step.Call call
                            && call.target().descriptor().contains("L" + lambda.type() + ";")) {
                        Run run = run(method, i, call, lambda);
                        if (run != null) {
                            paired.computeIfAbsent(j, any -> new ArrayList<>()).add(run);
                        }
                        break;
                    }
                }
            }
        }
        return paired;
    }

    private @Nullable Run run(MethodCode method, int at, Step.Call call, Step.Lambda lambda) {
        Id target = call.target();
        if (!program.has(target.owner())) {
            return runsAtOnce(target.owner()) ? new Run(lambda, computes(method, at, target)) : null;
        }
        return switch (use(call, lambda, new HashSet<>())) {
            case NONE -> null;
            case CALLED -> new Run(lambda, false);
            case CALLED_UNDER_LOCK -> new Run(lambda, true);
        };
    }

    /** What a method of the product does with a lambda, until it returns. */
    private enum Use {
        NONE,
        CALLED,
        CALLED_UNDER_LOCK
    }

    private Use use(Step.Call call, Step.Lambda lambda, Set<Id> seen) {
        Use use = Use.NONE;
        for (MethodCode called : program.targets(call)) {
            for (int i = seen.add(called.id()) ? 0 : called.steps().size();
                    i < called.steps().size();
                    i++) {
                Use here = Use.NONE;
                if (called.steps().get(i) instanceof Step.Call inner) {
                    Id target = inner.target();
                    if (target.owner().equals(lambda.type()) && target.name().equals(lambda.method())) {
                        here = Use.CALLED;
                    } else if (target.descriptor().contains("L" + lambda.type() + ";") && seen.size() < 20) {
                        here = use(inner, lambda, seen);
                    }
                }
                if (here != Use.NONE && locks(called)[i] > 0) {
                    here = Use.CALLED_UNDER_LOCK;
                }
                use = here.compareTo(use) > 0 ? here : use;
            }
        }
        return use;
    }

    /** Returns whether the methods of a JDK class call their function arguments before they return. */
    private static boolean runsAtOnce(String type) {
        return type.startsWith("java/util/stream/")
                || type.startsWith("java/util/concurrent/atomic/")
                || type.startsWith("java/util/concurrent/")
                        && (type.endsWith("Map") || type.endsWith("Set") || type.endsWith("List"))
                || type.startsWith("java/util/") && type.indexOf('/', "java/util/".length()) < 0
                || type.equals("java/lang/Iterable")
                || type.startsWith("com/github/benmanes/caffeine/cache/");
    }

    /** Whether a call computes the value of an entry while other callers of that entry wait. */
    private boolean computes(MethodCode method, int lambda, Id call) {
        if (!COMPUTE.contains(call.name()) && !call.owner().startsWith("com/github/benmanes/caffeine/cache/")) {
            return false;
        }
        if (!call.owner().equals("java/util/Map")) {
            return call.owner().contains("Concurrent") || call.owner().contains("/caffeine/");
        }
        for (int i = lambda - 1; i >= 0; i--) {
            if (method.steps().get(i) instanceof Step.Read(String owner, String field)) {
                return program.isConcurrentMap(owner, field);
            }
        }
        return false;
    }
}
