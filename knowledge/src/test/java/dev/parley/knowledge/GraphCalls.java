package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.protocol.CallContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The calls of a {@link Graph}, so that a test can put something between them and the graph. */
interface GraphCalls extends KnowledgeEndpoint {
    @Override
    String schema(CallContext context);

    <T> T read(CallContext context, Function<View, T> question);

    List<String> changesOf(String taskId, CallContext context);

    int load(List<Statement> batch, CallContext context, @Nullable String source);

    void rules(String group, Alignment alignment);

    void shapes(String group, String turtle);

    void defaultCertainty(String group, @Nullable String graph, @Nullable Double certainty);

    StatementPage<Review> reviews(String group, Review.@Nullable State state, @Nullable String after, int limit);

    UpdateResult approve(String id, @Nullable String remark, CallContext reviewer);

    void reject(String id, @Nullable String remark, CallContext reviewer);

    List<LoggedQuery> queries(String group, long after, int limit);

    StatementPage<Statement> saidBy(String group, String name, @Nullable String after, int limit);

    StatementPage<Review> reviewsOf(String group, String name, @Nullable String after, int limit);

    List<LoggedQuery> queriesOf(String group, String name, long after, int limit);

    Graph.Erased erase(String name, boolean withStatements, CallContext by);

    void unlink(Collection<String> ids, CallContext by);

    void close();

    /** Does a call of the graph. */
    @FunctionalInterface
    interface Call {
        @Nullable
        Object make() throws Throwable;
    }

    /** Has something happen around a call. */
    @FunctionalInterface
    interface Around {
        @Nullable
        Object call(Method method, Call call) throws Throwable;
    }

    static GraphCalls of(Graph graph, Around around) {
        return proxy(GraphCalls.class, graph, around);
    }

    /** Returns an object that passes its calls on to the methods of the same name and parameters of another. */
    static <T> T proxy(Class<T> type, Object target, Around around) {
        return type.cast(Proxy.newProxyInstance(
                GraphCalls.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> around.call(method, () -> invoke(target, method, arguments))));
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            Method same = target.getClass().getMethod(method.getName(), method.getParameterTypes());
            same.setAccessible(true);
            return same.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
