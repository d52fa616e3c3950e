package dev.parley.knowledge.graphql;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import graphql.ExecutionInput;
import graphql.ExecutionResult;
import graphql.GraphQL;
import graphql.GraphQLException;
import graphql.ParseAndValidate;
import graphql.execution.RawVariables;
import graphql.execution.preparsed.PreparsedDocumentEntry;
import graphql.language.Document;
import graphql.language.OperationDefinition;
import graphql.normalized.ExecutableNormalizedOperation;
import graphql.normalized.ExecutableNormalizedOperationFactory;
import graphql.parser.InvalidSyntaxException;
import graphql.parser.Parser;
import graphql.parser.ParserEnvironment;
import graphql.parser.ParserOptions;
import graphql.schema.DataFetcher;
import graphql.schema.DataFetcherFactories;
import graphql.schema.GraphQLCodeRegistry;
import graphql.schema.GraphQLSchema;
import graphql.schema.idl.RuntimeWiring;
import graphql.schema.idl.SchemaGenerator;
import graphql.schema.idl.SchemaParser;
import graphql.schema.idl.SchemaPrinter;
import graphql.schema.idl.TypeDefinitionRegistry;
import graphql.validation.QueryComplexityLimits;
import graphql.validation.ValidationError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * GraphQL schema with a cache of documents that are valid in it.
 *
 * <p>graphql-java reads, validates and normalises queries here, and answers introspection; {@link GraphQlReader} answers the
 * rest. Safe for any thread.
 */
final class GraphQlSchema {
    /** Introspection nests deeper than other queries may. */
    private static final int INTROSPECTION_DEPTH = 30;

    private static final int MAX_CACHED_CHARACTERS = 1024 * 1024;

    /** Document with its one operation; {@code fixed} is its normalised form if it depends on no variable. */
    record Prepared(
            Document document,
            OperationDefinition operation,
            @Nullable ExecutableNormalizedOperation fixed) {}

    private final GraphQLSchema schema;
    private final GraphQL introspection;
    private final GraphQlLimits limits;
    private final Cache<String, Prepared> documents = Caffeine.newBuilder()
            .maximumWeight(MAX_CACHED_CHARACTERS)
            .weigher((String text, Prepared prepared) -> text.length() + 100)
            .executor(Runnable::run)
            .build();

    private GraphQlSchema(GraphQLSchema schema, GraphQlLimits limits) {
        this.schema = schema;
        this.limits = limits;
        introspection = GraphQL.newGraphQL(schema)
                .preparsedDocumentProvider((input, parse) ->
                        CompletableFuture.completedFuture(new PreparsedDocumentEntry(requireNonNull(
                                (Document) input.getGraphQLContext().get(Document.class)))))
                .build();
    }

    /** Returns the schema common to all graphs, extended by {@code typed} in the schema language. */
    static GraphQlSchema of(String typed, GraphQlLimits limits) {
        TypeDefinitionRegistry types = new SchemaParser().parse(generic());
        if (!typed.isEmpty()) {
            types.merge(new SchemaParser().parse(typed));
        }
        // The values are already read, each under its response key, so the fetchers only look them up.
        DataFetcher<@Nullable Object> held = field -> field.getSource() instanceof Map<?, ?> read
                ? read.get(field.getMergedField().getResultKey())
                : null;
        var wiring = RuntimeWiring.newRuntimeWiring()
                .codeRegistry(GraphQLCodeRegistry.newCodeRegistry()
                        .defaultDataFetcher(DataFetcherFactories.useDataFetcher(held)))
                .scalar(GraphQlAny.scalar("Any"))
                .scalar(GraphQlAny.scalar("Number"))
                .build();
        return new GraphQlSchema(new SchemaGenerator().makeExecutableSchema(types, wiring), limits);
    }

    private static String generic() {
        try (InputStream in = requireNonNull(GraphQlSchema.class.getResourceAsStream("generic.graphqls"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /**
     * Parses a query without validating it.
     *
     * @throws dev.parley.protocol.A2AException if it is not GraphQL, or too long
     */
    static Document parse(String text, GraphQlLimits limits) {
        if (text.length() > limits.characters()) {
            throw GraphQlFailure.SIZE.because("the query has more than " + limits.characters() + " characters");
        }
        var options = ParserOptions.getDefaultParserOptions()
                .transform(parser -> parser.maxTokens(limits.tokens())
                        .maxWhitespaceTokens(limits.characters())
                        .captureIgnoredChars(false)
                        .captureLineComments(false));
        try {
            return Parser.parse(ParserEnvironment.newParserEnvironment()
                    .document(text)
                    .locale(Locale.ENGLISH)
                    .parserOptions(options)
                    .build());
        } catch (InvalidSyntaxException invalid) {
            throw GraphQlFailure.SYNTAX.because(GraphQlFailure.specified(List.of(invalid.toInvalidSyntaxError())));
        }
    }

    /** Returns the cached result of {@link #prepare} for this text, or null. */
    @Nullable
    Prepared known(String text, OperationDefinition.Operation kind) {
        Prepared known = documents.getIfPresent(text);
        return known != null && known.operation().getOperation() == kind ? known : null;
    }

    /** Returns true if {@code document} uses names of this schema. */
    boolean understands(Document document) {
        return problems(document).isEmpty();
    }

    private List<ValidationError> problems(Document document) {
        var complexity = QueryComplexityLimits.newLimits()
                .maxDepth(INTROSPECTION_DEPTH)
                .maxFieldsCount(limits.fields())
                .build();
        try {
            return ParseAndValidate.validate(schema, document, rule -> true, Locale.ENGLISH, complexity);
        } catch (RuntimeException fault) {
            // graphql-java 26.0 stumbles over a subscription whose only field is skipped if a variable says so.
            throw GraphQlFailure.VALIDATION
                    .because("the query cannot be validated")
                    .causedBy(fault);
        }
    }

    /**
     * Validates a document.
     *
     * @throws dev.parley.protocol.A2AException if it does not fit the schema, or has not one operation of this kind
     */
    Prepared prepare(String text, Document document, OperationDefinition.Operation kind) {
        requireOne(document, kind);
        var problems = problems(document);
        if (!problems.isEmpty()) {
            throw GraphQlFailure.VALIDATION.because(GraphQlFailure.specified(problems));
        }
        return admit(text, document, kind);
    }

    /**
     * Takes a document that this schema {@linkplain #understands}.
     *
     * @throws dev.parley.protocol.A2AException if it has not one operation of this kind
     */
    Prepared admit(String text, Document document, OperationDefinition.Operation kind) {
        OperationDefinition operation = requireOne(document, kind);
        boolean fixed = operation.getVariableDefinitions().isEmpty();
        var prepared = new Prepared(document, operation, fixed ? normalized(document, Map.of()) : null);
        documents.put(text, prepared);
        return prepared;
    }

    private static OperationDefinition requireOne(Document document, OperationDefinition.Operation kind) {
        var operations = document.getDefinitionsOfType(OperationDefinition.class);
        if (operations.size() != 1 || operations.getFirst().getOperation() != kind) {
            throw GraphQlFailure.OPERATION.because(
                    "expected: one operation, a " + kind.name().toLowerCase(Locale.ROOT));
        }
        return operations.getFirst();
    }

    /**
     * Returns what a document asks for: without fragments and left-out fields, with arguments as they are meant.
     *
     * @throws dev.parley.protocol.A2AException if the variables do not fit
     */
    ExecutableNormalizedOperation normalized(Prepared prepared, Map<String, @Nullable Object> variables) {
        return prepared.fixed() != null ? prepared.fixed() : normalized(prepared.document(), variables);
    }

    private ExecutableNormalizedOperation normalized(Document document, Map<String, @Nullable Object> variables) {
        try {
            return ExecutableNormalizedOperationFactory.createExecutableNormalizedOperationWithRawVariables(
                    schema, document, null, RawVariables.of(variables));
        } catch (GraphQLException unfit) {
            throw GraphQlFailure.VALIDATION.because(String.valueOf(unfit.getMessage()));
        }
    }

    /**
     * Answers a query that asks about the schema.
     *
     * @param read the answer to the rest of it
     */
    ExecutionResult introspect(Prepared prepared, Map<String, @Nullable Object> variables, Map<String, ?> read) {
        return introspection.execute(ExecutionInput.newExecutionInput("")
                .graphQLContext(Map.of(Document.class, prepared.document()))
                .locale(Locale.ENGLISH)
                .variables(variables)
                .root(read)
                .build());
    }

    /** This schema in the schema language. */
    String text() {
        return new SchemaPrinter(SchemaPrinter.Options.defaultOptions()
                        .includeDirectiveDefinitions(false)
                        .includeSchemaDefinition(true))
                .print(schema);
    }

    GraphQLSchema schema() {
        return schema;
    }
}
