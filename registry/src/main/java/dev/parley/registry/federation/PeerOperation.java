package dev.parley.registry.federation;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.TRUTH;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations of the administration on the peers of a registry: their requests, their answers, and a row for each. */
public final class PeerOperation {
    private static final String PEERS = "/registry/peers";
    private static final String PEER = PEERS + "/{name}";

    private PeerOperation() {}

    @AdminCall.Named("registry/peers")
    record ListPeers() implements AdminCall<List<PeerView>> {}

    /**
     * Adds a peer, or replaces it.
     *
     * @param url of a hub, or of the ARD interface of a registry
     * @param keys that sign its list of revocations; empty for none
     * @param credential that it wants; empty for none
     * @param publishers domains for which it speaks; empty for its host
     * @param copied whether its public entries are copied
     */
    @AdminCall.Named("registry/peers/put")
    record PutPeer(String peer, String url, String keys, String credential, List<String> publishers, boolean copied)
            implements AdminCall<PeerView> {}

    @AdminCall.Named("registry/peers/cut")
    record CutPeer(String peer, String reason) implements AdminCall<RemovedCopies> {}

    @AdminCall.Named("registry/peers/resume")
    record ResumePeer(String peer) implements AdminCall<PeerView> {}

    @AdminCall.Named("registry/peers/copy")
    record CopyPeer(String peer) implements AdminCall<CopiedEntries> {}

    @AdminCall.Named("registry/peers/remove")
    record RemovePeer(String peer) implements AdminCall<RemovedCopies> {}

    enum PeerStatus {
        ACTIVE,
        CUT
    }

    /**
     * A peer.
     *
     * @param reason for which it is cut off; null if it is not
     * @param copies null if its entries are not copied
     */
    record PeerView(
            String name,
            String url,
            List<String> publishers,
            boolean hasKeys,
            boolean hasCredential,
            PeerStatus status,
            @Nullable String reason,
            @Nullable CopiesView copies) {}

    /**
     * Progress of the copy of a peer's entries.
     *
     * @param position number of the last change that was copied
     * @param problem of the last attempt; empty for none
     * @param copiedAt end of the last attempt; null before the first
     */
    record CopiesView(
            long position, String problem, @Nullable Instant copiedAt) {}

    /** @param removed number of copies */
    record RemovedCopies(long removed) {}

    /**
     * Numbers of one attempt to copy.
     *
     * @param problem why the last entry was refused; empty for none
     */
    record CopiedEntries(long copied, long removed, long refused, String problem) {}

    private static <V> Function<PeerView, @Nullable V> ofCopies(Function<CopiesView, @Nullable V> member) {
        return peer -> {
            CopiesView copies = peer.copies();
            return copies == null ? null : member.apply(copies);
        };
    }

    private static final Codec<PeerView> VIEW = ObjectCodec.<PeerView>of()
            .required("name", TEXT, PeerView::name)
            .required("url", TEXT, PeerView::url)
            .required("publishers", TEXTS, PeerView::publishers)
            .required("hasKeys", BOOLEAN, PeerView::hasKeys)
            .required("hasCredential", BOOLEAN, PeerView::hasCredential)
            .required("copied", BOOLEAN, peer -> peer.copies() != null)
            .required("status", Codecs.words(PeerStatus.class), PeerView::status)
            .optional("reason", TEXT, PeerView::reason)
            .optional("position", COUNT, ofCopies(CopiesView::position))
            .optional("problem", TEXT, ofCopies(CopiesView::problem))
            .optional("copiedAt", TIME, ofCopies(CopiesView::copiedAt))
            .as(PeerOperation::view);

    private static PeerView view(ObjectCodec.Values v) {
        String name = v.next();
        String url = v.next();
        List<String> publishers = v.next();
        boolean hasKeys = v.<Boolean>next();
        boolean hasCredential = v.<Boolean>next();
        boolean isCopied = v.<Boolean>next();
        PeerStatus status = v.next();
        String reason = v.next();
        Long position = v.next();
        String problem = v.next();
        Instant copiedAt = v.next();
        CopiesView copies = isCopied ? new CopiesView(position, problem, copiedAt) : null;
        return new PeerView(name, url, publishers, hasKeys, hasCredential, status, reason, copies);
    }

    private static final Codec<RemovedCopies> REMOVED = ObjectCodec.<RemovedCopies>of()
            .required("removed", COUNT, RemovedCopies::removed)
            .as(v -> new RemovedCopies(v.<Long>next()));

    static final ExtensionMethod<ListPeers, List<PeerView>> LIST = AdminRow.of(
            ListPeers.class,
            "GET " + PEERS,
            "List the peers of the registry",
            ObjectCodec.<ListPeers>of().as(v -> new ListPeers()),
            ObjectCodec.list("peers", VIEW));

    static final ExtensionMethod<PutPeer, PeerView> PUT = AdminRow.of(
            PutPeer.class,
            "PUT " + PEER,
            "Add a peer of the registry, or replace it",
            named(PutPeer::peer)
                    .required("url", TEXT, PutPeer::url)
                    .help("URL", "Address of a hub, or of the ARD interface of a registry.")
                    .optional("keys", TEXT, "", PutPeer::keys)
                    .help("KEYS", "Public keys that sign its list of revocations: a JWK set or PEM.")
                    .optional("credential", TEXT, "", PutPeer::credential)
                    .help("TOKEN", "Token that it wants, or a header as Name: value.")
                    .optional("publishers", TEXTS, List.of(), PutPeer::publishers)
                    .help("DOMAIN", "Domains for which it speaks; default: its host.")
                    .optional("copied", TRUTH, false, PutPeer::copied)
                    .help("", "Copy its public entries.")
                    .as(v -> new PutPeer(v.next(), v.next(), v.next(), v.next(), v.next(), v.next())),
            VIEW);

    static final ExtensionMethod<CutPeer, RemovedCopies> CUT = AdminRow.of(
            CutPeer.class,
            "POST " + PEER + "/cut",
            "Cut a peer of the registry off, and remove its copies",
            named(CutPeer::peer)
                    .required("reason", TEXT, CutPeer::reason)
                    .help("TEXT", "Reason, for operators.")
                    .as(v -> new CutPeer(v.next(), v.next())),
            REMOVED);

    static final ExtensionMethod<ResumePeer, PeerView> RESUME = AdminRow.of(
            ResumePeer.class,
            "POST " + PEER + "/resume",
            "Use a peer of the registry again",
            named(ResumePeer::peer).as(v -> new ResumePeer(v.next())),
            VIEW);

    static final ExtensionMethod<CopyPeer, CopiedEntries> COPY = AdminRow.of(
            CopyPeer.class,
            "POST " + PEER + "/copy",
            "Copy changed entries of a peer of the registry now",
            named(CopyPeer::peer).as(v -> new CopyPeer(v.next())),
            ObjectCodec.<CopiedEntries>of()
                    .required("copied", COUNT, CopiedEntries::copied)
                    .required("removed", COUNT, CopiedEntries::removed)
                    .required("refused", COUNT, CopiedEntries::refused)
                    .optional("problem", TEXT, "", CopiedEntries::problem)
                    .as(v -> new CopiedEntries(v.<Long>next(), v.<Long>next(), v.<Long>next(), v.next())));

    static final ExtensionMethod<RemovePeer, RemovedCopies> REMOVE = AdminRow.of(
            RemovePeer.class,
            "DELETE " + PEER,
            "Remove a peer of the registry, and its copies",
            named(RemovePeer::peer).as(v -> new RemovePeer(v.next())),
            REMOVED);

    /** All rows. */
    public static final List<ExtensionMethod<?, ?>> ROWS = List.of(LIST, PUT, CUT, RESUME, COPY, REMOVE);

    private static <T> ObjectCodec.Builder<T> named(Function<T, String> peer) {
        return ObjectCodec.<T>of().required("name", TEXT, peer).argument("NAME", "Name of the peer.");
    }
}
