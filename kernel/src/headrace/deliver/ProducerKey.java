package headrace.deliver;

/** What tells one pooled producer from another. */
record ProducerKey(
    ClientOptions clients, String pipeline, int task, String markerTopic, int transactionTimeoutMs) {
  private static final int ANY_TASK = -1;

  /** The producer of one task's transactions. */
  static ProducerKey transactional(DeliverySpec spec, int task) {
    return new ProducerKey(
        spec.clients(), spec.pipeline(), task, spec.markerTopic(), spec.transactionTimeoutMs());
  }

  /** A producer without transactions, for whichever task needs one. */
  static ProducerKey plain(DeliverySpec spec) {
    return new ProducerKey(spec.clients(), spec.pipeline(), ANY_TASK, null, spec.transactionTimeoutMs());
  }

  /** Null for a producer without transactions. */
  String transactionalId() {
    return task == ANY_TASK ? null : transactionalId(pipeline, task);
  }

  /** Free of the checkpoint, so that a new history fences the tasks of the old one. */
  static String transactionalId(String pipeline, int task) {
    return "headrace-" + pipeline + "-" + task;
  }
}
