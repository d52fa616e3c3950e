package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.registry.EntryModel.ENTRY;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.Entry.Outcome;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Export and import of entries: requests, answers, and a row for each operation. */
public final class ExchangeOperation {
    private ExchangeOperation() {}

    @RegistryCall.Named("registry/export")
    public record ExportEntries(
            EntryFilter filter,
            @Nullable Long pageSize,
            @Nullable String pageToken) implements RegistryCall<ExportPage> {}

    /** @param next token of the next page; null on the last one */
    public record ExportPage(
            List<ExportedEntry> entries, @Nullable String next) {}

    /** An entry with the bytes of its document. */
    public record ExportedEntry(Entry entry, byte[] document) {}

    /**
     * Publishes exported entries, or those of a catalog, as entries of the caller.
     *
     * @param export page of an export, or a catalog of ARD
     */
    @RegistryCall.Named("registry/import")
    public record ImportEntries(Map<String, @Nullable Object> export) implements RegistryCall<Imported> {}

    /**
     * Results of the import of a page of an export, or of a catalog.
     *
     * @param results for each entry of a page of an export; null for a catalog
     * @param entries for each entry of a catalog; null for a page of an export
     * @param signature verdict on the signature of the catalog; null for a page of an export
     */
    public record Imported(
            @Nullable List<ImportedEntry> results,
            @Nullable List<CatalogEntry> entries,
            @Nullable CatalogSignature signature) {}

    /**
     * Result for an exported entry.
     *
     * @param id of the entry of the caller; null if it was refused
     * @param problem for which it was refused; null if it was not
     */
    public record ImportedEntry(
            @Nullable String id, @Nullable String problem) {}

    /**
     * Result for an entry of a catalog.
     *
     * @param identifier in the catalog
     * @param id of the entry of the caller; null if it was refused
     * @param refused problem for which it was refused; null if it was not
     */
    public record CatalogEntry(
            String identifier,
            @Nullable String id,
            @Nullable String refused) {}

    /** Verdict on the signature of a catalog, or on the manifests of an entry in it. */
    public record CatalogSignature(Outcome outcome, String reason) {}

    /** JSON of an exported entry: one line of an exported file. */
    public static final Codec<ExportedEntry> EXPORTED = ObjectCodec.<ExportedEntry>of()
            .required("entry", ENTRY, ExportedEntry::entry)
            .required("document", BYTES, ExportedEntry::document)
            .as(v -> new ExportedEntry(v.next(), v.next()));

    private static final Codec<ExportPage> PAGE = ObjectCodec.<ExportPage>of()
            .required("entries", Codecs.list(EXPORTED), ExportPage::entries)
            .optional("nextPageToken", TEXT, ExportPage::next)
            .as(v -> new ExportPage(v.next(), v.next()));

    private static final Codec<ImportedEntry> RESULT = ObjectCodec.<ImportedEntry>of()
            .optional("id", TEXT, ImportedEntry::id)
            .optional("problem", TEXT, ImportedEntry::problem)
            .as(v -> new ImportedEntry(v.next(), v.next()));

    private static final Codec<CatalogEntry> CATALOG_ENTRY = ObjectCodec.<CatalogEntry>of()
            .required("identifier", TEXT, CatalogEntry::identifier)
            .optional("id", TEXT, CatalogEntry::id)
            .optional("refused", TEXT, CatalogEntry::refused)
            .as(v -> new CatalogEntry(v.next(), v.next(), v.next()));

    /** JSON of a verdict, also in results of ARD. */
    public static final Codec<CatalogSignature> SIGNATURE = ObjectCodec.<CatalogSignature>of()
            .required("outcome", Codecs.words(Outcome.class), CatalogSignature::outcome)
            .required("reason", TEXT, CatalogSignature::reason)
            .as(v -> new CatalogSignature(v.next(), v.next()));

    public static final ExtensionMethod<ExportEntries, ExportPage> EXPORT = RegistryCall.row(
            ExportEntries.class,
            "GET /export",
            "Export entries with their documents, page by page",
            EntryOperation.page(
                            EntryFilter.shape(ExportEntries::filter), ExportEntries::pageSize, ExportEntries::pageToken)
                    .as(v -> new ExportEntries(EntryFilter.read(v), v.next(), v.next())),
            PAGE);

    public static final ExtensionMethod<ImportEntries, Imported> IMPORT = RegistryCall.row(
            ImportEntries.class,
            "POST /import",
            "Import exported entries as entries of the caller",
            ObjectCodec.<ImportEntries>of()
                    .required("export", STRUCT, ImportEntries::export)
                    .argument("OBJECT", "A page of an export.")
                    .asBody()
                    .as(v -> new ImportEntries(v.next())),
            ObjectCodec.<Imported>of()
                    .optional("results", Codecs.list(RESULT), Imported::results)
                    .optional("entries", Codecs.list(CATALOG_ENTRY), Imported::entries)
                    .optional("signature", SIGNATURE, Imported::signature)
                    .as(v -> new Imported(v.next(), v.next(), v.next())));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(EXPORT, IMPORT);
}
