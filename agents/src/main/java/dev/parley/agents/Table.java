package dev.parley.agents;

import java.util.List;

/**
 * A header and the rows below it, column by column.
 *
 * @param separator the character that stood between two fields
 */
record Table(List<Column> columns, int rows, char separator) {
    /** One column; {@code cells} holds a string for every row, empty where there was nothing. */
    record Column(String name, List<String> cells) {}
}
