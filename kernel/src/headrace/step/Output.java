package headrace.step;

/** A row that a step emits: a port, when and from where, and the bytes of the port's struct. */
public record Output(int port, long time, int source, int partition, long offset, byte[] payload) {}
