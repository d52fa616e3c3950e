package dev.parley.store;

import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.PushStoreContract;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.InstantSource;
import org.junit.jupiter.api.Tag;

/** A store to which several hubs may write. */
@Tag("heavy")
final class SharedPushStoreTest extends PushStoreContract {
    @Override
    protected Stores open(InstantSource clock) {
        Store store = new SharedSchema().store(clock);
        return new Stores(store.log(), claiming(store.webhooks()));
    }

    /** A store that has the claim which it needs to record a delivery. */
    private static PushStore claiming(PushStore webhooks) {
        return (PushStore) Proxy.newProxyInstance(
                PushStore.class.getClassLoader(), new Class<?>[] {PushStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("advance")) {
                        webhooks.claim(((Subscription) arguments[0]).queue());
                    }
                    try {
                        return method.invoke(webhooks, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
