package headrace.view;

import java.io.Serializable;

/**
 * A row of a view as it is from now on, or gone.
 *
 * @param ordinal the outlet that it came by
 * @param key the columns of the view's key as a JSON object
 * @param value all columns as a JSON object; null deletes the row
 */
public record Change(int ordinal, byte[] key, byte[] value) implements Serializable {}
