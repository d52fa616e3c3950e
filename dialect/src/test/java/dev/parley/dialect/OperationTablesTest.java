package dev.parley.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.vault.VaultDialect;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendStreamingMessage;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** An operation of A2A that is added without a row in a table fails here, unless that dialect does not have it. */
final class OperationTablesTest {
    static Stream<Arguments> tables() {
        Set<Class<?>> none = Set.of();
        // Version 0.1 and the Agentic Kernel have no lists, no removal of webhooks and no extended card.
        Set<Class<?>> notInTheFirst =
                Set.of(ListTasks.class, ListPushConfigs.class, DeletePushConfig.class, GetExtendedAgentCard.class);
        // AgentVault streams by a subscription only, and gives its webhook with the message.
        Set<Class<?>> notInVault = Set.of(
                SendStreamingMessage.class,
                ListTasks.class,
                CreatePushConfig.class,
                GetPushConfig.class,
                ListPushConfigs.class,
                DeletePushConfig.class,
                GetExtendedAgentCard.class);
        return Stream.of(
                Arguments.of("1.0", V1Operations.TABLE, none),
                Arguments.of("1.0, lenient", LegacyOperations.LENIENT, none),
                Arguments.of("0.3, kind", LegacyOperations.KIND, none),
                Arguments.of("0.3, proto", LegacyOperations.PROTO, none),
                Arguments.of("0.1", LegacyOperations.TYPE, notInTheFirst),
                Arguments.of("Agentic Kernel", LegacyOperations.KERNEL, notInTheFirst),
                Arguments.of("AgentVault", VaultDialect.OPERATIONS, notInVault));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("tables")
    void everyOperationHasARow(String name, OperationTable table, Set<Class<?>> absent) {
        Set<Class<?>> rows =
                table.all().stream().<Class<?>>map(WireOperation::type).collect(Collectors.toSet());
        Set<Class<?>> expected = operations(Operation.class)
                .filter(operation -> !absent.contains(operation))
                .collect(Collectors.toSet());

        assertThat(rows).isEqualTo(expected);
    }

    /** The records of A2A's operations: whatever is permitted, without the open branch of extensions. */
    private static Stream<Class<?>> operations(Class<?> type) {
        if (type.isRecord()) {
            return Stream.of(type);
        }
        return Arrays.stream(type.getPermittedSubclasses())
                .filter(permitted -> !Operation.Extension.class.isAssignableFrom(permitted))
                .flatMap(OperationTablesTest::operations)
                .distinct();
    }
}
