package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.engine.spi.UnreadableTask;
import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Operations on webhooks whose deliveries fail, on secrets that sign deliveries, and on tasks that cannot be read. */
final class WebhookOperation {
    private WebhookOperation() {}

    @AdminCall.Named("webhooks/dead")
    record ListDead() implements AdminCall<List<DeadView>> {}

    @AdminCall.Named("webhooks/waiting")
    record ListWaiting() implements AdminCall<List<WaitingView>> {}

    @AdminCall.Named("webhooks/redeliver")
    record Redeliver(String taskId, String configId) implements AdminCall<Operation.Empty> {}

    @AdminCall.Named("webhooks/secret")
    record ShowSecret(String group) implements AdminCall<SecretView> {}

    @AdminCall.Named("tasks/unreadable")
    record ListUnreadable() implements AdminCall<List<UnreadableTask>> {}

    /** A webhook whose deliveries were given up. */
    record DeadView(
            String taskId,
            String configId,
            String agent,
            String url,
            long attempts,
            @Nullable Instant deadSince,
            @Nullable String lastError) {}

    /** A webhook whose delivery failed and is tried again. */
    record WaitingView(
            String taskId,
            String configId,
            String agent,
            String url,
            long attempts,
            @Nullable Instant nextAttempt,
            @Nullable String lastError) {}

    /** The secret that signs the webhooks of a group. */
    record SecretView(String group, String secret) {}

    private static final Codec<DeadView> DEAD_WEBHOOK = ObjectCodec.<DeadView>of()
            .required("taskId", TEXT, DeadView::taskId)
            .required("configId", TEXT, DeadView::configId)
            .required("agent", TEXT, DeadView::agent)
            .required("url", TEXT, DeadView::url)
            .required("attempts", COUNT, DeadView::attempts)
            .optional("deadSince", TIME, DeadView::deadSince)
            .optional("lastError", TEXT, DeadView::lastError)
            .as(v -> new DeadView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<WaitingView> WAITING_WEBHOOK = ObjectCodec.<WaitingView>of()
            .required("taskId", TEXT, WaitingView::taskId)
            .required("configId", TEXT, WaitingView::configId)
            .required("agent", TEXT, WaitingView::agent)
            .required("url", TEXT, WaitingView::url)
            .required("attempts", COUNT, WaitingView::attempts)
            .optional("nextAttempt", TIME, WaitingView::nextAttempt)
            .optional("lastError", TEXT, WaitingView::lastError)
            .as(v -> new WaitingView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<UnreadableTask> UNREADABLE_TASK = ObjectCodec.<UnreadableTask>of()
            .required("taskId", TEXT, UnreadableTask::taskId)
            .required("agent", TEXT, UnreadableTask::agent)
            .required("group", TEXT, UnreadableTask::group)
            .required("since", TIME, UnreadableTask::since)
            .required("reason", TEXT, UnreadableTask::reason)
            .as(v -> {
                String taskId = v.next();
                String agent = v.next();
                return new UnreadableTask(v.next(), agent, taskId, v.next(), v.next());
            });

    static final ExtensionMethod<ListDead, List<DeadView>> DEAD = AdminRow.of(
            ListDead.class,
            "GET /webhooks/dead",
            "List them",
            ObjectCodec.<ListDead>of().as(v -> new ListDead()),
            ObjectCodec.list("webhooks", DEAD_WEBHOOK));

    static final ExtensionMethod<ListWaiting, List<WaitingView>> WAITING = AdminRow.of(
            ListWaiting.class,
            "GET /webhooks/waiting",
            "List webhooks that failed and are tried again",
            ObjectCodec.<ListWaiting>of().as(v -> new ListWaiting()),
            ObjectCodec.list("webhooks", WAITING_WEBHOOK));

    static final ExtensionMethod<Redeliver, Operation.Empty> REDELIVER = AdminRow.of(
            Redeliver.class,
            "POST /webhooks/{taskId}/{configId}/redeliver",
            "Deliver them again",
            ObjectCodec.<Redeliver>of()
                    .required("taskId", TEXT, Redeliver::taskId)
                    .argument("TASK-ID", "The task.")
                    .required("configId", TEXT, Redeliver::configId)
                    .argument("CONFIG-ID", "The webhook.")
                    .as(v -> new Redeliver(v.next(), v.next())),
            ObjectCodec.<Operation.Empty>of().as(v -> new Operation.Empty()));

    /** A POST, because a page of another site can send a GET. */
    static final ExtensionMethod<ShowSecret, SecretView> SECRET = AdminRow.of(
            ShowSecret.class,
            "POST /webhooks/secret",
            "Show the secret that signs a group's webhooks",
            ObjectCodec.<ShowSecret>of()
                    .optional("group", TEXT, AdminCall.DEFAULT_GROUP, ShowSecret::group)
                    .help("GROUP", "The group of the callers; default: default.")
                    .as(v -> new ShowSecret(v.next())),
            ObjectCodec.<SecretView>of()
                    .required("group", TEXT, SecretView::group)
                    .required("secret", TEXT, SecretView::secret)
                    .as(v -> new SecretView(v.next(), v.next())));

    static final ExtensionMethod<ListUnreadable, List<UnreadableTask>> UNREADABLE = AdminRow.of(
            ListUnreadable.class,
            "GET /tasks/unreadable",
            "List interrupted tasks that cannot be read",
            ObjectCodec.<ListUnreadable>of().as(v -> new ListUnreadable()),
            ObjectCodec.list("tasks", UNREADABLE_TASK));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(DEAD, WAITING, REDELIVER, SECRET, UNREADABLE);
}
